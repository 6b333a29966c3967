"""The folders that `import` and `export` make: case files, the files of tensors, and what each case became."""
