"""Operators of ONNX that DirectML has exactly, by families: for each, what makes the desc of a node."""
