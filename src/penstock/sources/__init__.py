"""One source a file."""
