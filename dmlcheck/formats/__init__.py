"""The file formats of cases, and of other programs."""
