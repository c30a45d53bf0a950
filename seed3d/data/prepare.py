"""Many objects to training records: in parallel, resumable, one bad model never stops the rest."""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seed3d.data.build import Recipe, build_object, furniture_recipe, procedural_recipe

FAILURES = "failures.jsonl"


@dataclass(frozen=True)
class Job:
    """One object to make, small enough to send to a worker."""

    kind: str
    """furniture or procedural."""
    arguments: tuple[Any, ...]

    def recipe(self) -> Recipe:
        """What build_object takes; made inside the worker."""
        return {"procedural": procedural_recipe, "furniture": furniture_recipe}[self.kind](
            *self.arguments
        )


def procedural_jobs(
    per_category: int,
    first_seed: int = 0,
    views: int = 2,
    only: Iterable[str] = (),
    training_only: bool = False,
    view_seed: int = 0,
) -> list[Job]:
    """Jobs for `per_category` objects of every category, or of those in `only`.

    With `training_only` those that fall to another split are left out; another `view_seed` gives
    other photos of the same objects.

    Raises:
        InputError: A category is unknown.
    """
    from seed3d.data.procedural import CATEGORIES
    from seed3d.data.split import split_of
    from seed3d.errors import InputError, near_miss

    for name in only:
        if name not in CATEGORIES:
            raise InputError(f"no procedural category {name!r}.{near_miss(name, CATEGORIES)}")
    seeds = range(first_seed, first_seed + per_category)
    names = sorted(only) or sorted(CATEGORIES)
    jobs = [Job("procedural", (name, seed, views, view_seed)) for seed in seeds for name in names]
    if training_only:
        jobs = [job for job in jobs if split_of(job.recipe().group) == "train"]
    return jobs


def furniture_jobs(
    libraries: Path,
    cache: Path,
    views: int = 6,
    variants: int = 0,
    variant_views: int = 3,
    training_only: bool = False,
    view_seed: int = 0,
) -> list[Job]:
    """Jobs for every usable model of the .sh3f libraries in a folder.

    Training models also get `variants` stretched variants each (`seed3d.data.variants`). With
    `training_only` the models of the other splits are left out; another `view_seed` gives other
    photos of the same objects.
    """
    from seed3d.data.furniture import catalogue
    from seed3d.data.split import split_of

    entries = list(catalogue(libraries))
    training = [entry for entry in entries if split_of(entry.group) == "train"]
    first = training if training_only else entries
    jobs = [Job("furniture", (entry, cache, views, 0, view_seed)) for entry in first]
    return jobs + [
        Job("furniture", (entry, cache, variant_views, variant, view_seed))
        for variant in range(1, variants + 1)
        for entry in training
    ]


def prepare(
    jobs: list[Job], folder: Path, workers: int = 1, progress: Callable[[Any], Any] = iter
) -> Counter[str]:
    """Write the record of every job that isn't there yet; causes of failure go to failures.jsonl.

    Args:
        jobs: Objects to make.
        folder: For the records; the same call goes on where a stopped one left off.
        workers: Processes.
        progress: Wraps the iterator of results, e.g. a progress bar.

    Returns:
        How many were made, kept (already there) and failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, maxtasksperchild=100) as pool:
        for key, outcome in progress(pool.imap_unordered(_work, [(j, folder) for j in jobs])):
            state = outcome if outcome in ("made", "kept") else "failed"
            counts[state] += 1
            if state == "failed":
                note_failure(folder, key, outcome)
    return counts


def note_failure(folder: Path, key: str, cause: str) -> None:
    """Add a line to failures.jsonl beside the records."""
    with (folder / FAILURES).open("a") as file:
        file.write(json.dumps({"key": key, "cause": cause}) + "\n")


def _work(job: tuple[Job, Path]) -> tuple[str, str]:
    recipe = job[0].recipe()
    return recipe.key, build_object(recipe, job[1])


def statistics(folder: Path) -> dict[str, Any]:
    """Counts of records by split, kind, licence and category, and of failures by cause."""
    import numpy as np

    from seed3d.train.data import read_attributes, record_paths

    tables: dict[str, Counter[str]] = {n: Counter() for n in ("split", "kind", "licence", "category")}  # fmt: skip
    photos = 0
    for path in record_paths(folder):
        with np.load(path) as record:
            row = read_attributes(record)
            photos += len(record["cameras"])
        kind = "procedural" if path.name.startswith("procedural_") else "furniture"
        for name, value in ({**row, "kind": kind}).items():
            if name in tables:
                tables[name][str(value)] += 1
    causes: Counter[str] = Counter()
    failures = folder / FAILURES
    if failures.exists():
        for line in failures.read_text().splitlines():
            causes[json.loads(line)["cause"].partition(":")[0]] += 1
    return {
        "objects": sum(tables["split"].values()), "photos": photos,
        **{name: dict(sorted(t.items())) for name, t in tables.items()}, "failed": dict(causes),
    }  # fmt: skip
