"""From the rows of a plan to a version of a saved dataset."""

from penstock.saving.save import Mode, Saved, save

__all__ = ["Mode", "Saved", "save"]
