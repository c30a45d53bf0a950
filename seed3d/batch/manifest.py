"""CSV and JSONL manifests: one item per row, with options of its own."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from seed3d.batch.options import columns
from seed3d.batch.places import read_text
from seed3d.errors import ConfigError, InputError, near_miss

SUFFIXES = (".csv", ".jsonl")
_TEXT = {"path", "name", "preset", "material", "model", "device", "up", "units", "formats"}
"""Columns that stay text whatever they look like."""


def read_manifest(place: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a manifest, each with where it stands ("items.csv line 3").

    CSV: a header with `path` and any option; an empty cell isn't given; lines that start with #
    are skipped. JSONL: one object per line; options may be nested.

    Raises:
        InputError: It can't be read or parsed, or a row has no path.
        ConfigError: A column that isn't known; the nearest name is told.
    """
    text = read_text(place)
    rows = _jsonl(text, place) if place.lower().endswith(".jsonl") else _csv(text, place)
    if not rows:
        raise InputError(f"{place}: no rows; wanted at least one with a path")
    for where, row in rows:
        if not isinstance(row.get("path"), str) or not row["path"].strip():
            raise InputError(f"{where}: no path; wanted the image's or mesh's path in `path`")
    return rows


def _csv(text: str, place: str) -> list[tuple[str, dict[str, Any]]]:
    lines = [(i, x) for i, x in enumerate(text.splitlines(), 1) if not x.startswith("#")]
    lines = [(i, x) for i, x in lines if x.strip(", \t")]
    try:
        reader = csv.reader(io.StringIO("\n".join(x for _, x in lines)), strict=True)
        table = list(reader)
    except csv.Error as error:
        raise InputError(f"{place}: not a CSV table ({error}). Quote cells with commas") from error
    if not table:
        return []
    header = [cell.strip() for cell in table[0]]
    _check_columns(header, place)
    rows = []
    for (number, _), cells in zip(lines[1:], table[1:], strict=False):
        where = f"{place} line {number}"
        if len(cells) > len(header):
            raise InputError(
                f"{where}: got {len(cells)} cells; wanted at most {len(header)}, as the header. "
                "Quote cells with commas"
            )
        given = zip(header, (cell.strip() for cell in cells), strict=False)
        rows.append((where, {key: _value(key, cell) for key, cell in given if cell}))
    return rows


def _jsonl(text: str, place: str) -> list[tuple[str, dict[str, Any]]]:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{place} line {number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not JSON ({error})") from error
        if not isinstance(row, dict):
            raise InputError(f"{where}: got a {type(row).__name__}; wanted an object")
        rows.append((where, row))
    return rows


def _check_columns(header: list[str], place: str) -> None:
    if "path" not in header:
        raise ConfigError(f"{place}: no column `path` in {', '.join(header)}")
    known = columns()
    for column in header:
        if column not in known:
            raise ConfigError(f"{place}: unknown column {column!r}.{near_miss(column, known)}")
        if header.count(column) > 1:
            raise ConfigError(f"{place}: column {column!r} stands twice; wanted it once")


def _value(key: str, cell: str) -> Any:
    if key in _TEXT:
        return cell
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    import yaml

    try:
        return yaml.safe_load(cell)
    except yaml.YAMLError:
        return cell  # the option's own check tells what was wanted
