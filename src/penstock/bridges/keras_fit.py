"""`model.fit(ds)`: Keras takes datasets of penstock as they are, with no adapter asked for."""

from __future__ import annotations

from functools import wraps
from typing import Any

from penstock.bridges.keras_adapter import adapter
from penstock.dataset import Dataset
from penstock.errors import ArgumentError

__all__ = ["accept_datasets"]


def accept_datasets() -> None:
    """Let `fit`, `evaluate` and `predict` of Keras make an adapter where they are given a dataset.

    Keras has no register of what its models take. The one function in which it chooses an adapter is wrapped, once;
    what is no dataset of penstock reaches it as before. Where a later Keras has no such function, nothing is done.
    """
    from keras.src.trainers import data_adapters

    choose = getattr(data_adapters, "get_data_adapter", None)
    if choose is None or hasattr(choose, "of_penstock"):
        return

    @wraps(choose)
    def get_data_adapter(x: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(x, Dataset):
            return choose(x, y, *args, **kwargs)
        if y is not None:
            raise ArgumentError(
                "fit", "y", got=type(y).__name__, want="None: a dataset holds its own targets"
            )
        return choose(adapter(x))

    get_data_adapter.of_penstock = True  # type: ignore[attr-defined]
    data_adapters.get_data_adapter = get_data_adapter
