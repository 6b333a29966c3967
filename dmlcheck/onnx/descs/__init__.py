"""The notation of ONNX operators' tables: a node, its tensors, and the steps that it becomes."""
