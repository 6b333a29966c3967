"""A desc's fields and tensors at any level; descs as plain values again."""
