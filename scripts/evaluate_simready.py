"""Mesh to asset over furniture models, judged by Seed3D's verification and two independent checkers.

Usage:
    python scripts/evaluate_simready.py --furniture /usr/share/sweethome3d/furniture \
        --count 60 --out out/simready --json docs/results/simready.json

A stopped run goes on by the same command: finished models are kept in OUT/<key>/row.json. Delete
the folder to measure changed code. `seed3d evaluate physics` is the same over every input.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from seed3d.evaluate.physics import Options, judge_all, summarise
from seed3d.evaluate.physics_inputs import furniture_items


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--furniture", type=Path, default=Path("/usr/share/sweethome3d/furniture"))
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--out", type=Path, default=Path("out/simready"))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--limit", type=float, default=300.0, help="processor seconds per model")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-checkers", action="store_true")
    parser.add_argument("--keys", nargs="*", help="judge these models instead of a sample")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    entries = furniture_items(args.furniture, args.cache)
    chosen = random.Random(args.seed).sample(entries, min(args.count, len(entries)))
    if args.keys:
        chosen = [entry for entry in entries if entry.key in args.keys]
    options = Options(args.out, args.preset, args.limit, checkers=not args.no_checkers)
    rows = []
    for row in judge_all(chosen, options, args.workers):
        rows.append(row)
        why = "" if row["state"] == "verified" else row["message"][-160:]
        print(f"{len(rows):3d}/{len(chosen)} {row['key']:22s}{row['name'][:24]:26s}"
              f"{row['state']:10s}{row['seconds']:6.1f} s {why}", flush=True)  # fmt: skip
    total = summarise(rows)
    print(json.dumps(total, indent=1))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({**total, "items": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
