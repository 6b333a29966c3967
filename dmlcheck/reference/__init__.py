"""The reference engine: what each operator computes, and how far an implementation may be from it."""
