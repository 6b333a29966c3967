"""WebNN's operators as DirectML's, by family, as Chromium's DirectML backend maps them."""
