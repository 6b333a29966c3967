"""Reports of results, for people and for programs. They decide nothing."""
