"""Laws that every node keeps, to be run over your own pipelines too."""

from penstock.testing.laws import check_laws
from penstock.testing.sources import Samples

__all__ = ["Samples", "check_laws"]
