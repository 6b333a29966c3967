"""The kernels by family: each module ends in its table, an operator and its kernel a row."""
