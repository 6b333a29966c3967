"""A desc's fields and tensors, whatever the level; descs as plain values again."""
