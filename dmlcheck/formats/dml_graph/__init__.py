"""DirectML graphs on disk, as ONNX Runtime's DirectML provider writes them: read, and their edges checked."""
