"""Ball arithmetic: numbers with a value and a radius, within which an implementation's numbers are."""
