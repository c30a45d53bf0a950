"""Options of one item: the command's, then its manifest row's; strict."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from seed3d.config import Config, load_preset, update
from seed3d.errors import ConfigError, near_miss

SHORT = {
    "seed": "seed",
    "device": "device",
    "model": "geometry.model",
    "height": "physics.height",
    "length": "physics.length",
    "mass": "physics.mass",
    "material": "physics.material",
    "formats": "export.formats",
}
"""Short column names, as the command's flags, to keys of the configuration."""

ITEM_KEYS = ("path", "name", "preset", "up", "units")
"""Columns that aren't keys of the configuration."""

UNITS_M = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}


@lru_cache(maxsize=64)
def _preset(name: str) -> Config:
    return load_preset(name)


def resolve_row(config: Config, common: dict[str, Any], row: dict[str, Any]) -> Config:
    """Return the configuration of one item.

    Args:
        config: The batch's; replaced by the row's preset where it names one.
        common: Nested options of the command, on top.
        row: The row's own, on top of those; `ITEM_KEYS`, short or dotted names, or nested.

    Raises:
        ConfigError: Unknown key (the nearest is named) or wrong value.
    """
    base = _preset(str(row["preset"])) if row.get("preset") is not None else config
    return update(update(base, common), nested(row))


def nested(row: dict[str, Any]) -> dict[str, Any]:
    """Short and dotted names of a row as nested options.

    Raises:
        ConfigError: Unknown name.
    """
    tree: dict[str, Any] = {}
    for key, value in row.items():
        if key in ITEM_KEYS or value is None:
            continue
        parts = SHORT.get(key, key).split(".")
        if SHORT.get(key, key) not in _keys() | _groups():
            raise ConfigError(f"unknown column {key!r}.{near_miss(key, columns())}")
        for part in reversed(parts):
            value = {part: value}
        tree = merged(tree, value)
    return tree


def columns() -> list[str]:
    """Every name that a manifest's column may have."""
    return [*ITEM_KEYS, *SHORT, *sorted(_keys())]


def merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Nested dictionaries, the second's values on top."""
    both = dict(first)
    for key, value in second.items():
        inner = both.get(key)
        both[key] = (
            merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
        )
    return both


def check(config: Config) -> None:
    """Find misspelt names before hours of work.

    Raises:
        ConfigError: Unknown material, format, engine or length; the nearest name is told.
        CheckpointError: Unknown geometry model.
    """
    from seed3d.export import WRITERS
    from seed3d.physics.materials import material
    from seed3d.verify.run import ENGINES

    if config.physics.material:
        material(config.physics.material)
    _known("export.formats", config.export.formats, WRITERS)
    _known("verify.engines", config.verify.engines, ENGINES)
    for key in ("height", "length", "mass"):
        value = getattr(config.physics, key)
        if value is not None and not 0 < value < float("inf"):
            raise ConfigError(f"physics.{key}: got {value}; wanted a finite number > 0")
    if not config.geometry.model.endswith(".safetensors"):
        from seed3d.checkpoints import model_info

        model_info(config.geometry.model)


def _known(key: str, names: Iterable[str], choices: Iterable[str]) -> None:
    for name in names:
        if name not in choices:
            raise ConfigError(f"{key}: unknown {name!r}.{near_miss(name, choices)}")


@lru_cache(maxsize=1)
def _keys() -> frozenset[str]:
    return frozenset(_flat(Config(), ""))


def _groups() -> frozenset[str]:
    return frozenset(key.split(".")[0] for key in _keys() if "." in key)


def _flat(config: Any, where: str) -> list[str]:
    found = []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        path = f"{where}{field.name}"
        found += _flat(value, f"{path}.") if dataclasses.is_dataclass(value) else [path]
    return found
