"""WebNN's conformance tests: the JavaScript files of the W3C's web-platform-tests, read as data and never run."""
