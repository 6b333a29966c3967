"""The reference as a static site: a page for each operator, made of specs, cases and templates (the extra `docs`)."""
