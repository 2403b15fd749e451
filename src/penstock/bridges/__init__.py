"""Where rows leave for other libraries, and come from them. Only a bridge imports its framework."""

from penstock.bridges import arrow, html, tf

__all__ = ["arrow", "html", "tf"]
