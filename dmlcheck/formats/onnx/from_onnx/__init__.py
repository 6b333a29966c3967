"""Nodes of ONNX as operators of DirectML, for two purposes.

- `imported`, for `import onnx`: one operator that computes the same as a node whose values are all known.
- `several`, for `validate`: the operators that ONNX Runtime's DirectML provider makes of a node. `registrations` says
  which nodes it takes.

Both use `operators`, the families where the two are the same. Only imports use `adapted`, `attention`, `copies` and
`einsum`; only `validate` uses what `several` gathers, as `differing` and `resized`.
"""
