"""What ONNX Runtime takes: the operators that are registered with its DirectML provider, and on its CPU."""
