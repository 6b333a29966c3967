"""Processes: a child that answers questions or is lost, a pool of children, and the workers of a cluster."""
