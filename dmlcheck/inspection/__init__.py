"""The tool about itself: coverage, schema, self-check, pages of operators."""
