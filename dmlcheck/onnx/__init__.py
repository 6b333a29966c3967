"""ONNX's models: cases to models and back."""
