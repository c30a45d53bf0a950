"""A mesh's file name as a hint of what it is."""

from __future__ import annotations

import re

from seed3d.physics.materials import categories
from seed3d.types import Estimate


def category_from_name(name: str) -> Estimate:
    """Category whose name or alias stands in a file name ("Office-chair_02"); else unknown.

    The longest match wins: "coffee_table_lamp" is a table lamp's row before a table's.
    """
    words = "_" + "_".join(re.findall(r"[a-z]+", name.lower())) + "_"
    hits = [
        (len(alias), row.name, alias)
        for row in categories().values()
        for alias in (row.name, *row.aliases)
        if f"_{alias}_" in words or f"_{alias}s_" in words
    ]
    if not hits:
        return Estimate("unknown", "prior", f"no category's name stands in {name!r}")
    _, row, alias = max(hits)
    return Estimate(row, "estimate", f"the file's name {name!r} has the word {alias!r}")
