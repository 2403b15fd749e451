"""Bytes by path: which files are meant, how they are read, and how they are written so that none is ever half
there.
"""
