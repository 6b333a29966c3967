"""What the operators of a node are written with: the node, its tensors, and the steps that it becomes."""
