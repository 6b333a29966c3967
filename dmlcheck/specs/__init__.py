"""DirectML's names and levels, and what is known of each operator."""
