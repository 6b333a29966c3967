"""Comparison of results with expected values: tolerances, verdicts, known faults."""
