"""Files to values, with the position of every key and value."""
