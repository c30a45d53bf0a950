"""What a batch consists of: folders, globs, files, manifests and URLs to named items."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from seed3d.batch.find import MESHES, PHOTOS, Found, find
from seed3d.batch.options import UNITS_M, check, merged, nested, resolve_row
from seed3d.config import Config, from_dict, to_dict
from seed3d.errors import ConfigError, InputError, near_miss
from seed3d.names import MAX_LENGTH, asset_name

Kind = Literal["photo", "mesh"]


@dataclass(frozen=True)
class Item:
    """One photo or mesh of a batch."""

    name: str
    """Name of its folder in the output."""
    source: str
    """Absolute local path, or URL."""
    label: str
    """Path for people: relative to what the user gave."""
    kind: Kind
    config: Config
    """Resolved: preset, command, row."""
    options: dict[str, Any] = field(default_factory=dict)
    """The row's own options, nested; empty outside manifests."""
    up: str | None = None
    """Up axis of a mesh; by its format where None."""
    unit_m: float | None = None
    """Length of a mesh's unit [m]."""

    def to_plain(self) -> dict[str, Any]:
        """Plain data for a pipe."""
        return {**self.__dict__, "config": to_dict(self.config)}

    @staticmethod
    def from_plain(data: dict[str, Any]) -> Item:
        """Back from `to_plain`."""
        return Item(**{**data, "config": from_dict(Config, data["config"])})


def plan_items(
    inputs: Sequence[str | Path],
    config: Config | None = None,
    options: dict[str, Any] | None = None,
    out: str | Path = "",
    only: Kind | None = None,
) -> list[Item]:
    """Return the items of a batch, sorted by label, each with a name of its own.

    A name follows from the path relative to the given folder ("kitchen/mug.png" is
    "kitchen_mug"). Where several items would share one, each of them gets a hash of its own path
    and options, so that no name depends on the order.

    Args:
        inputs: Folders (searched through), globs, image and mesh files, .csv and .jsonl
            manifests; local or fsspec URLs.
        config: The batch's; the default preset's where None.
        options: Nested options on top of `config` or of a row's preset.
        out: Output folder; nothing in it is taken for an input.
        only: Take photos or meshes only.

    Raises:
        InputError: Nothing found, or a manifest that can't be read.
        ConfigError: Unknown option or wrong value, with the row.
    """
    found = find([str(place) for place in inputs], str(out))
    base, common = config or Config(), options or {}
    items = {}
    for one in found:
        item = _item(one, base, common)
        if only is None or item.kind == only:
            items[item.source, item.name, _text(item.options), item.up, item.unit_m] = item
    if not items:
        wanted = {"photo": "images", "mesh": "meshes", None: "images or meshes"}[only]
        raise InputError(f"no {wanted} in {', '.join(map(str, inputs))}. Check the paths")
    for settings in {_text(to_dict(i.config)): i.config for i in items.values()}.values():
        check(settings)
    return sorted(_named(list(items.values())), key=lambda item: (item.label, item.name))


def _item(found: Found, base: Config, common: dict[str, Any]) -> Item:
    """An item whose name may still clash; `name` is the row's own or empty."""
    row = found.row
    suffix = PurePosixPath(found.label).suffix.lower()
    try:
        if suffix not in PHOTOS | MESHES:
            known = ", ".join(sorted(PHOTOS | MESHES))
            raise InputError(f"{found.label}: got a {suffix or 'nameless'} file; wanted {known}")
        return Item(
            name=str(row["name"]) if row.get("name") else "",
            source=found.source,
            label=found.label,
            kind="mesh" if suffix in MESHES else "photo",
            config=resolve_row(base, common, row),
            options=_own(row),
            up=_choice(row, "up", ("y", "z")),
            unit_m=UNITS_M.get(_choice(row, "units", tuple(UNITS_M)) or ""),
        )
    except (ConfigError, InputError) as error:
        if not found.where:
            raise
        raise type(error)(f"{found.where}: {error}") from error


def _own(row: dict[str, Any]) -> dict[str, Any]:
    return merged({k: row[k] for k in ("preset", "up", "units") if row.get(k)}, nested(row))


def _choice(row: dict[str, Any], key: str, choices: tuple[str, ...]) -> str | None:
    value = row.get(key)
    if value is not None and value not in choices:
        raise ConfigError(f"{key}: got {value!r}.{near_miss(str(value), choices)}")
    return value


def _named(items: list[Item]) -> list[Item]:
    """Give each item its folder's name."""
    plain = [asset_name(item.name or str(PurePosixPath(item.label).with_suffix("")).replace("/", "_"))
             for item in items]  # fmt: skip
    counts = Counter(name.lower() for name in plain)
    named, taken = [], {name.lower() for name in plain if counts[name.lower()] == 1}
    for item, name in zip(items, plain, strict=True):
        if counts[name.lower()] > 1:
            name = _hashed(name, item)
            if name.lower() in taken:
                raise InputError(
                    f"{item.label}: another input has this path and these options, and so the "
                    f"name {name}. Give them a `name` each in a manifest"
                )
            taken.add(name.lower())
        named.append(replace(item, name=name))
    return named


def _hashed(name: str, item: Item) -> str:
    digest = hashlib.sha256(_text([item.label, item.options]).encode()).hexdigest()[:8]
    return f"{name[: MAX_LENGTH - 9].rstrip('_')}_{digest}"


def _text(data: Any) -> str:
    return json.dumps(data, sort_keys=True)
