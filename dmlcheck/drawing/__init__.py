"""Random valid descs of any operator, drawn only from its spec."""
