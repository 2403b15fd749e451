"""The plan of a pipeline: what a node is, and how nodes are put together."""
