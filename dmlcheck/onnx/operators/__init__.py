"""Operators of ONNX by families, each with its rows: the steps that nodes become, by meaning and by the provider."""
