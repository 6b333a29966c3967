"""Descs as ONNX graphs, by family of operators."""
