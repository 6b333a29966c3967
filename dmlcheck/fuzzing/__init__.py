"""Random descs and graphs, judged one after the other, and what fails reduced."""
