"""Graphs of descs: steps whose tensors have names, computed in order."""
