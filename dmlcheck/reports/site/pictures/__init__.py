"""Drawings of examples: the elements that make an output element, sampling places, and the gates of a cell."""
