"""A run as one HTML file that needs no other: the failures, the places of errors in outputs, and their sizes."""
