"""Diagnostics: the record, the catalog of rules, and the wording of messages."""
