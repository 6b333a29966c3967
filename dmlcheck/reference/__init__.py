"""The reference engine and its kernels."""
