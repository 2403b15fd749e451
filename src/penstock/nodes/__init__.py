"""One transformation a file. They register when they are imported: at the first use of a method, by `_methods.py`."""
