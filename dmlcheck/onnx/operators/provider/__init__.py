"""What ONNX Runtime's DirectML provider takes of a model, and the descs that it makes."""
