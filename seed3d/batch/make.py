"""The work on one item, in whatever process it runs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from seed3d.batch.places import fetch
from seed3d.batch.plan import Item
from seed3d.batch.record import commit, commit_failure, fingerprint, finished, replace_path
from seed3d.batch.store import open_store
from seed3d.errors import Seed3DError
from seed3d.report import TIMINGS

MAKER = "seed3d.batch.make:make_files"
"""What a worker calls per item: (item, local file) to (asset's files, seconds per stage)."""


def make_files(item: Item, path: Path) -> tuple[dict[str, bytes], dict[str, float]]:
    """Make and verify one asset in memory.

    Raises:
        Seed3DError: The input can't become an asset, with the reason.
    """
    from seed3d.pipeline import finished_files, generate, simready

    if item.kind == "photo":
        asset = generate(path, item.config, item.name)
    else:
        asset = simready(path, item.config, item.name, up=item.up, unit_m=item.unit_m)
    files, _, timings = finished_files(asset, item.config)
    return {k: v for k, v in files.items() if k != TIMINGS}, timings


def process(item: Item, out: str, retry_failed: bool, maker: str = MAKER) -> dict[str, Any]:
    """Do one item unless it's done; leave its asset and record in the output.

    Returns:
        result: What the record says. kept: True where an earlier run had done it.
        seconds, timings_s: Clock time, whole and per stage.
    """
    start = time.perf_counter()
    store, timings = open_store(out), {}
    with tempfile.TemporaryDirectory(prefix="seed3d-batch-") as temporary:
        path: Path | None = None
        try:
            path = fetch(item.source, Path(temporary))
            mark = fingerprint(item, path)
            result = finished(store, item, mark, retry_failed)
            kept = result is not None
            if result is None:
                files, timings = _maker(maker)(item, path)
                result = commit(store, item, mark, files)
        except Seed3DError as error:
            kept = False
            cause = replace_path(str(error), item, path or Path(item.source))
            result = commit_failure(store, item, fingerprint(item, path), "input", cause)
    return {"result": result, "kept": kept, "timings_s": timings,
            "seconds": round(time.perf_counter() - start, 3)}  # fmt: skip


def give_up(item: Item, out: str, failure: str, cause: str) -> dict[str, Any]:
    """Record an item whose worker died, for the last time; the process that calls is healthy."""
    with tempfile.TemporaryDirectory(prefix="seed3d-batch-") as temporary:
        try:
            mark = fingerprint(item, fetch(item.source, Path(temporary)))
        except Seed3DError:  # the input is gone: that is in the fingerprint of a missing one
            mark = fingerprint(item, None)
        result = commit_failure(open_store(out), item, mark, failure, cause)
    return {"result": result, "kept": False, "timings_s": {}, "seconds": 0.0}


def _maker(name: str) -> Any:
    import importlib

    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)
