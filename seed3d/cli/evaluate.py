"""`seed3d evaluate ...`: measure the models."""

from __future__ import annotations

import click

from seed3d.cli.lazy import LazyGroup

COMMANDS = {
    "geometry": "seed3d.cli.evaluate_geometry:geometry",
    "physics": "seed3d.cli.evaluate_physics:physics",
    "texture": "seed3d.cli.evaluate_texture:texture",
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def evaluate() -> None:
    """Measure the models on objects that they never saw."""
