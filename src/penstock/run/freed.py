"""Errors without what our own frames still hold for them."""

from __future__ import annotations

from contextlib import suppress

__all__ = ["freed"]


def freed(error: Exception) -> Exception:
    """The error, without what our own frames still hold for it.

    A traceback keeps its frames, and those that called them; where one of these names the error, or rows, neither
    is freed before the garbage collector comes by, and threads go on. The frames of the user's function stay whole.
    """
    cause = error.__cause__ or error
    frame = None if cause.__traceback__ is None else cause.__traceback__.tb_frame
    while frame is not None:
        with suppress(RuntimeError):  # it is running
            frame.clear()
        frame = frame.f_back
    return error
