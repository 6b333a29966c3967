"""The limits of a computation: its work, and its time."""
