"""Shards written together, and saved datasets."""
