"""Case files to cases, and cases made ready to run."""
