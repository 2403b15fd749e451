"""Whether resuming a pipeline of yours is exact, and which function is in the way where it is not."""

from penstock.testing.resume.check import check_resume
from penstock.testing.resume.report import Check, Culprit, Difference, ResumeReport

__all__ = ["Check", "Culprit", "Difference", "ResumeReport", "check_resume"]
