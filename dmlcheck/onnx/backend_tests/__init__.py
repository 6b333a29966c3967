"""Folders of backend tests, in the layout of ONNX: a model of one operator, and its values, as cases."""
