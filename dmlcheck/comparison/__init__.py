"""What was found against what is expected: tolerances, verdicts, known faults."""
