"""The folders of `import` and `export`: case files, files of tensors, and the result for each case."""
