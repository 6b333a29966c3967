"""Where the results of an operator are cut into tiles, what of the inputs a tile needs, and arrays in blocks."""
