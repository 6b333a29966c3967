"""Cases to results, in one process or several."""
