"""DirectML's names and levels, and the specs of the operators."""
