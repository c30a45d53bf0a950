"""What became of an item, and of which bytes and options: the commit point of its work.

An asset is finished when its record is there, with the fingerprint of today's input and options
and the digest of the report that lies in the folder. A record goes before its asset changes and
comes back after it, so a kill at any moment leaves an item finished or open, never in between.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from seed3d.batch.find import STATE
from seed3d.batch.plan import Item
from seed3d.batch.sides import side_files
from seed3d.batch.store import Store, old_files
from seed3d.config import data_dir, to_dict
from seed3d.report import REPORT, dump, load_verdict, versions

VERSION = 1
AGAIN = frozenset({"crash", "time", "memory"})
"""Kinds of failure that depend on the machine: the next run tries them again."""


def fingerprint(item: Item, path: Path | None) -> str:
    """Digest of all that an item's result depends on.

    Args:
        item: The item.
        path: Its local file; None or a missing one gives the fingerprint of a missing input.
    """
    there = path is not None and path.is_file()
    files = [path, *side_files(path)] if there and path is not None else []
    data = {
        "version": VERSION,
        "inputs": {p.name: _digest(p) for p in files},
        "item": [item.name, item.label, item.kind, item.up, item.unit_m],
        "config": to_dict(item.config),
        "around": _around(item.config.geometry.model),
    }
    return hashlib.sha256(dump(data)).hexdigest()


@lru_cache(maxsize=8)
def _around(model: str) -> dict[str, Any]:
    """Versions of the packages, tables and weights."""
    files = sorted(data_dir("configs").glob("*.yaml"))
    files.append(data_dir("checkpoints") / "manifest.yaml")  # holds the weights' digests
    if model.endswith(".safetensors") and Path(model).is_file():
        files.append(Path(model))
    return {"versions": versions(), "files": {p.name: _digest(p) for p in files}}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record_path(name: str) -> str:
    """Path of an item's record in the store."""
    return f"{STATE}/records/{name}.json"


def finished(store: Store, item: Item, mark: str, retry_failed: bool) -> dict[str, Any] | None:
    """Return the result of an item that needs no work, or None."""
    data = store.read(record_path(item.name))
    if data is None:
        return None
    record = json.loads(data)
    result = record["result"]
    if record.get("version") != VERSION or record["fingerprint"] != mark:
        return None
    if result["status"] != "verified" and (retry_failed or result.get("failure") in AGAIN):
        return None
    if record["report_sha256"] is not None:
        report = store.read(f"{item.name}/{REPORT}")
        if report is None or hashlib.sha256(report).hexdigest() != record["report_sha256"]:
            return None
        if not store.has(item.name, json.loads(report)["files"]):
            return None
    return result


def commit(store: Store, item: Item, mark: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Write an asset and its record; returns the result."""
    result = _result(json.loads(files[REPORT]))
    store.remove([record_path(item.name)])
    store.put(item.name, files)
    digest = hashlib.sha256(files[REPORT]).hexdigest()
    return _write(store, item, mark, digest, result)


def commit_failure(store: Store, item: Item, mark: str, failure: str, cause: str) -> dict[str, Any]:
    """Remove what an older run made of an item and record why there is nothing now.

    Args:
        store: The output.
        item: The item.
        mark: Its fingerprint.
        failure: input, error, crash, time or memory.
        cause: For the user, the same on every run.
    """
    store.remove([record_path(item.name)])
    store.remove(f"{item.name}/{path}" for path in old_files(store, item.name))
    result = {"status": "failed", "failure": failure, "cause": cause}
    return _write(store, item, mark, None, result)


def _write(
    store: Store, item: Item, mark: str, report: str | None, result: dict[str, Any]
) -> dict[str, Any]:
    record = {"version": VERSION, "fingerprint": mark, "report_sha256": report, "result": result}
    store.write(record_path(item.name), dump(record))
    return result


def _result(report: dict[str, Any]) -> dict[str, Any]:
    """The facts that results.jsonl and the gallery show."""
    checks = report["verdict"]["checks"]
    bad = [c for c in checks if not c["passed"]]
    verdict = load_verdict(report)
    estimates = report["estimates"]

    def value(key: str) -> Any:
        return estimates[key]["value"] if key in estimates else None

    return {
        "status": "verified" if report["verdict"]["passed"] else "unverified",
        "cause": "; ".join(
            f"{c['name']}{' in ' + c['engine'] if c['engine'] else ''}: got {c['value']}, "
            f"wanted {c['wanted']}"
            for c in bad
        ),
        "unsteady": verdict.unsteady if verdict else "",
        "extents_m": report["mesh"]["extents_m"],
        "mass_kg": report["body"]["mass_kg"],
        "material": value("material"),
        "category": value("category"),
        "faces": report["mesh"]["faces"],
        "hulls": len(report["collision"]["hulls"]),
        "checks": len(checks),
        "fallbacks": [f"{f['stage']}: {f['what']}" for f in report["fallbacks"]],
        "formats": report["formats"],
        "files": sorted(report["files"]),
    }


def row(item: Item, result: dict[str, Any]) -> dict[str, Any]:
    """One line of results.jsonl."""
    shown = {k: v for k, v in result.items() if k != "files"}
    return {"name": item.name, "input": item.label, "kind": item.kind,
            "options": item.options, **shown}  # fmt: skip


def replace_path(text: str, item: Item, path: Path) -> str:
    """A message without this machine's folders: the same wherever the batch runs."""
    for place in sorted({str(path), item.source}, key=len, reverse=True):
        text = text.replace(place, item.label)
    return text
