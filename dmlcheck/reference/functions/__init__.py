"""The functions that formulas share: sums, products, windows, interpolation and the like."""
