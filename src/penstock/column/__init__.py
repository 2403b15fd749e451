"""Columns and chunks: rows kept together, in Arrow's layout.

fixed.py    values[n, *shape]
bytes.py    offsets[n+1], data
ragged.py   offsets[n+1], inner column
shaped.py   arrays whose shapes differ in more than their first axis
chunk.py    columns in the user's structure
values.py   what a ragged or sparse row looks like to the user
"""
