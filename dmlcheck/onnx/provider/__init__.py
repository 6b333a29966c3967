"""The kernels of ONNX Runtime: the operators registered with its DirectML provider, and with its CPU provider."""
