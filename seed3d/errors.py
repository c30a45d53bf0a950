"""Errors that a user can act on: what was got, what was wanted, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Seed3DError(Exception):
    """Base of every error that Seed3D raises on purpose. The message is shown to the user as it is."""


class InputError(Seed3DError):
    """An input file (photo, mesh, asset folder) that can't be used."""


class ConfigError(Seed3DError):
    """An option that doesn't exist or has a value out of range."""


class StageError(Seed3DError):
    """A stage that could not do its job on this input."""


class MissingDependencyError(Seed3DError):
    """An optional package or system library that isn't installed."""


class ExportError(Seed3DError):
    """An asset that can't be written in the format asked for."""


class CheckpointError(Seed3DError):
    """A weight file that is missing, damaged or of another model."""


def near_miss(name: str, choices: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the closest choice, or the list of choices."""
    choices = sorted(choices)
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.6)
    if close:
        return f" Did you mean {close[0]!r}?"
    return f" Choose from: {', '.join(choices)}."
