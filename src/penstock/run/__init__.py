"""The engine: edges, marks, and the iterator that a user holds."""
