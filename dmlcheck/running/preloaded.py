"""The imports of a worker on this machine, made once, in the process that the workers are copies of."""

import sys

sys.path[:] = [folder for folder in sys.path if folder]  # files of the current folder are no modules to import here

import distributed  # noqa: E402, F401

import dmlcheck.running.batches  # noqa: E402, F401
