"""What the tool knows of itself."""
