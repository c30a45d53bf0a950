"""Options that commands share, and how flags become a configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from seed3d.config import Config, ConfigError, load_preset, update

UNITS_M = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}


def making_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every command that makes assets in a local folder."""
    out = click.option("-o", "--out", type=click.Path(path_type=Path), required=True,
                       help="Folder for the assets; each gets a folder of its own in it.")  # fmt: skip
    return out(item_options(command))


def item_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every command that makes assets, without the place they go to."""
    for option in reversed(
        [
            click.option("--height", type=float, help="True height of the object [m]."),
            click.option("--length", type=float, help="True longest side of the object [m]."),
            click.option("--mass", type=float, help="True mass of the object [kg]."),
            click.option("--material", help="Row of configs/materials.yaml, e.g. ceramic, steel."),
            click.option("--seed", type=int, help="Seed of every random choice.  [default: 0]"),
            click.option("--preset", default="default", show_default=True,
                         help="fast, default or quality; or the path of a YAML file."),
            click.option("--formats", help="Comma-separated: urdf,mjcf,usd,glb,mjcf_sdf.  [default: the first four]"),
            click.option("--device", help="auto, cpu or cuda.  [default: auto]"),
            click.option("--set", "sets", multiple=True, metavar="KEY=VALUE",
                         help="Any other option, e.g. --set texture.size=2048. See --dry-run."),
            click.option("--dry-run", is_flag=True,
                         help="Print the resolved configuration and stop."),
            click.option("-q", "--quiet", is_flag=True, help="Only errors and the last line."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def resolve(flags: dict[str, Any]) -> Config:
    """Preset, then flags, then --set; strict.

    Raises:
        ConfigError: Unknown key or wrong value.
    """
    config = load_preset(flags["preset"])
    for options in overrides(flags):
        config = update(config, options)
    return config


def overrides(flags: dict[str, Any]) -> list[dict[str, Any]]:
    """Nested options that flags and --set put on top of the preset, in this order.

    Raises:
        ConfigError: A --set without a value.
    """
    import yaml

    nested = {
        "seed": flags.get("seed"), "device": flags.get("device"),
        "geometry": {"model": flags.get("model")},
        "vlm": {"url": flags.get("vlm")},
        "physics": {k: flags.get(k) for k in ("height", "length", "mass", "material")},
        "export": {"formats": flags.get("formats")},
    }  # fmt: skip
    found = [_given(nested)]
    for item in flags.get("sets", ()):
        key, equals, value = item.partition("=")
        if not equals:
            raise ConfigError(f"--set {item}: wanted KEY=VALUE, e.g. texture.size=2048")
        data: Any = yaml.safe_load(value)
        for part in reversed(key.split(".")):
            data = {part: data}
        found.append(data)
    return found


def _given(nested: dict[str, Any]) -> dict[str, Any]:
    """Without the flags that weren't given."""
    inner = {k: _given(v) if isinstance(v, dict) else v for k, v in nested.items()}
    return {k: v for k, v in inner.items() if v is not None and v != {}}


def plain(value: Any) -> Any:
    """Tuples to lists, for YAML."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return list(value) if isinstance(value, tuple) else value
