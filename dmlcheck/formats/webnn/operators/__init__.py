"""What WebNN's operators become of DirectML's, by family, as Chromium's DirectML backend maps them."""
