"""The whole batch: plan, workers, records, results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seed3d.batch.cluster import run_on_ray
from seed3d.batch.local import default_workers, run_here, run_pool
from seed3d.batch.lock import alone, workers_lock
from seed3d.batch.make import MAKER
from seed3d.batch.places import check_reachable, is_url, local_path
from seed3d.batch.plan import Item, Kind, plan_items
from seed3d.batch.record import row
from seed3d.batch.store import RUNTIME, FolderStore, Store, open_store
from seed3d.batch.summary import GALLERY, RESULTS, SUMMARY, gallery_html, results_jsonl, summary_csv
from seed3d.batch.supervise import Job, Limits
from seed3d.config import Config, load_preset
from seed3d.errors import ConfigError

Report = Callable[[Item, dict[str, Any]], None]
"""Called with each item and its outcome as it ends."""


@dataclass(frozen=True)
class BatchResult:
    """What came out of a batch."""

    rows: tuple[dict[str, Any], ...]
    """One per item, as in results.jsonl."""
    made: int
    """Items that this run worked on; the others were finished before."""
    seconds: float
    peak_worker_bytes: int
    """Largest memory of one worker and what it started, as looked at every 0.2 s."""

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Rows of items that aren't verified assets, with `cause`."""
        return [r for r in self.rows if r["status"] != "verified"]


def run_batch(
    inputs: Sequence[str | Path] | str | Path,
    out: str | Path,
    config: Config | str = "default",
    options: dict[str, Any] | None = None,
    *,
    workers: int | None = None,
    limits: Limits | None = None,
    ray: str | None = None,
    only: Kind | None = None,
    retry_failed: bool = False,
    report: Report | None = None,
    items: list[Item] | None = None,
    maker: str = MAKER,
) -> BatchResult:
    """Make assets of many photos and meshes; run it again to go on after any interruption.

    Finished items whose input and options are the same aren't done again.

    Args:
        inputs: Folders, globs, files, .csv and .jsonl manifests; local or fsspec URLs.
        out: Folder or fsspec URL for the assets and results.
        config: Preset name, or a configuration, for every item.
        options: Nested options on top, e.g. {"physics": {"material": "steel"}}.
        workers: Processes; by cores and memory where None; 0 works in the calling process.
        limits: Time, memory, retries and threads per item.
        ray: "local", "auto" or an address: work on a Ray cluster.
        only: "photo" or "mesh": take only those.
        retry_failed: Also do items again that failed by themselves.
        report: Called with each item and its outcome.
        items: `plan_items`'s result where it's at hand already.
        maker: "module:function" that makes an asset's files of an item; for tests.

    Returns:
        One row per item, sorted by input.

    Raises:
        InputError: Nothing to do.
        ConfigError: Unknown option or wrong value, told before any work.
    """
    places = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    limits, out = limits or Limits(), str(out)
    _check(limits, workers, ray)
    base = load_preset(config) if isinstance(config, str) else config
    items = plan_items(places, base, options, out, only) if items is None else items
    check_reachable([out, *(i.source for i in items)], workers == 0 and not ray)
    store = open_store(out)
    start = time.monotonic()
    jobs = [Job(item, out, retry_failed, maker) for item in items]
    folder = None if is_url(out) else local_path(out).resolve()
    with alone(folder) if folder else nullcontext():
        store.clean()
        outcomes: dict[str, dict[str, Any]] = {}
        for job, outcome in _outcomes(jobs, workers, limits, ray, folder):
            outcomes[job.item.name] = outcome
            _log(store, job.item, outcome)
            if report:
                report(job.item, outcome)
        store.clean()  # after a node's death
        rows = _write_results(store, items, outcomes)
    made = sum(not o["kept"] for o in outcomes.values())
    peak = max((o["peak_bytes"] for o in outcomes.values()), default=0)
    return BatchResult(rows, made, time.monotonic() - start, peak)


def _outcomes(
    jobs: list[Job], workers: int | None, limits: Limits, ray: str | None, folder: Path | None
) -> Iterator[tuple[Job, dict[str, Any]]]:
    if ray:
        return run_on_ray(jobs, ray, workers, limits)
    if workers == 0:
        return run_here(jobs)
    count = workers or default_workers(len(jobs), limits.threads)
    return run_pool(jobs, count, limits, workers_lock(folder) if folder else None)


def _write_results(
    store: Store, items: list[Item], outcomes: dict[str, dict[str, Any]]
) -> tuple[dict[str, Any], ...]:
    results = {name: outcome["result"] for name, outcome in outcomes.items()}
    rows = tuple(row(item, results[item.name]) for item in items)
    files = {name: result.get("files", []) for name, result in results.items()}
    store.write(RESULTS, results_jsonl(rows))
    store.write(SUMMARY, summary_csv(rows))
    store.write(GALLERY, gallery_html(rows, files))
    return rows


def _log(store: Store, item: Item, outcome: dict[str, Any]) -> None:
    """Append to the runtime log; what differs between runs stands only there."""
    if isinstance(store, FolderStore):
        facts = {k: v for k, v in outcome.items() if k != "result"}
        line = {"name": item.name, "status": outcome["result"]["status"],
                "time": round(time.time(), 3), **facts}  # fmt: skip
        path = store.folder / RUNTIME / "log.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, sort_keys=True) + "\n")


def _check(limits: Limits, workers: int | None, ray: str | None) -> None:
    if workers is not None and workers < 0:
        raise ConfigError(f"workers: got {workers}; wanted 0 (the calling process) or more")
    if ray and workers == 0:
        raise ConfigError("workers: got 0 with ray; wanted at least 1, or none for all cores")
    if limits.threads < 1 or limits.retries < 0:
        raise ConfigError(
            f"got threads {limits.threads}, retries {limits.retries}; wanted at least 1 and 0"
        )
    for key in ("time_s", "memory_gb"):
        value = getattr(limits, key)
        if value is not None and not value > 0:
            raise ConfigError(f"{key}: got {value}; wanted a number > 0")
