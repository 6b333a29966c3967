"""Arrays as the engine and the formulas see them: blocks, places, operands, data types."""
