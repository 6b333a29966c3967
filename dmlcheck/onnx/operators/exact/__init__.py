"""Nodes that one operator of DirectML computes for the values of a test, whether the provider uses it or not."""
