"""What dmlcheck has to say: the record, the catalog of rules, and their wording."""
