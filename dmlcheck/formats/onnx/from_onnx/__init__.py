"""Nodes of ONNX as operators of DirectML, for two purposes.

- `provider`, for `validate`: the operators that ONNX Runtime's DirectML provider makes of the nodes that it takes.
- `exact`, for `import onnx`: one operator that computes the same as a node whose values are all known.

Both use `operators`, the families where the two are the same. Each has its `mapping`, which the rest of it serves.
"""
