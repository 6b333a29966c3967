"""The values of tensors as arrays."""
