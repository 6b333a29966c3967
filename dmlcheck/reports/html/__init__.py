"""A run as one HTML file that needs nothing else: what failed, where in the output, and by how much."""
