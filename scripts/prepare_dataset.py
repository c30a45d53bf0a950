"""Objects to training records, in parallel and resumable: run the same command again to go on.

Usage:
    python scripts/prepare_dataset.py --out datasets/objects \
        --furniture /usr/share/sweethome3d/furniture --views 6 \
        --procedural 60 --procedural-views 2
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from pathlib import Path

from seed3d.data.build import Recipe, build_object, furniture_recipe, procedural_recipe


def recipes(args: argparse.Namespace) -> list[tuple[str, tuple]]:
    """Every object as a picklable description."""
    rows: list[tuple[str, tuple]] = []
    if args.procedural:
        from seed3d.data.procedural import CATEGORIES

        rows += [
            ("procedural", (category, seed, args.procedural_views))
            for seed in range(args.first_seed, args.first_seed + args.procedural)
            for category in sorted(args.only or CATEGORIES)
        ]
    if args.furniture:
        from seed3d.data.furniture import catalogue

        rows += [
            ("furniture", (entry, args.cache, args.views)) for entry in catalogue(args.furniture)
        ]
    return rows


def make_recipe(row: tuple[str, tuple]) -> Recipe:
    """Turn a description into a recipe, inside the worker."""
    kind, arguments = row
    return (procedural_recipe if kind == "procedural" else furniture_recipe)(*arguments)


def work(job: tuple[tuple[str, tuple], Path]) -> tuple[str, str]:
    """Build one object."""
    recipe = make_recipe(job[0])
    return recipe.key, build_object(recipe, job[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--furniture", type=Path, help="folder of .sh3f libraries")
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--views", type=int, default=6)
    parser.add_argument("--procedural", type=int, default=0, help="objects per category")
    parser.add_argument("--only", nargs="*", help="procedural categories  [default: all]")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--procedural-views", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    jobs = [(row, args.out) for row in recipes(args)]
    counts: dict[str, int] = {}
    from tqdm import tqdm

    with multiprocessing.get_context("spawn").Pool(args.workers, maxtasksperchild=100) as pool:
        for key, outcome in tqdm(pool.imap_unordered(work, jobs), total=len(jobs)):
            state = outcome if outcome in ("made", "kept") else "failed"
            counts[state] = counts.get(state, 0) + 1
            if state == "failed":
                with (args.out / "failures.jsonl").open("a") as file:
                    file.write(json.dumps({"key": key, "cause": outcome}) + "\n")
    print(", ".join(f"{n} {state}" for state, n in sorted(counts.items())))


if __name__ == "__main__":
    main()
