"""ONNX's operators as descs, by family."""
