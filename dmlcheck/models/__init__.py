"""Models judged node by node, and end to end."""
