"""Models: read from files, their sizes inferred, their nodes placed, fused and mapped one by one."""
