"""Random valid descs of any operator, from its spec alone."""
