"""Mesh to asset over furniture models, judged by Seed3D's verification and two independent checkers.

Usage:
    python scripts/evaluate_simready.py --furniture /usr/share/sweethome3d/furniture \
        --count 60 --out out/simready --json docs/results/simready.json

A stopped run goes on by the same command: finished models are kept in OUT/rows.jsonl. Delete the
folder to measure changed code.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from seed3d.data.furniture import CatalogueEntry, catalogue, extract_model


def run(command: list[str | Path], limit_s: float) -> tuple[int, str, float]:
    """Exit code, output and seconds of a command; -1 where it ran past the limit."""
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return -1, f"no answer in {limit_s:.0f} s", limit_s
    return done.returncode, done.stdout + done.stderr, time.perf_counter() - start


def simcheck(path: Path) -> str:
    """PASS, or what simcheck found (warnings count)."""
    code, text, _ = run(
        [sys.executable, "-m", "simcheck", "check", path, "--fail-on", "warning"], 120
    )
    return "PASS" if code == 0 else text.strip()[-600:]


def simready(path: Path) -> str:
    """PASS, or what simready-validate found under Robotics-Prop 3.1.0."""
    tool = Path(sys.executable).parent / "simready-validate"
    code, text, _ = run([tool, "--profile", "Robotics-Prop", "--version", "3.1.0", path], 180)
    return "PASS" if code == 0 else text.strip()[-600:]


def judge(entry: CatalogueEntry, args: argparse.Namespace) -> dict[str, Any]:
    """One model through the command line and the checkers."""
    model = extract_model(entry, args.cache)
    code, text, seconds = run(
        [sys.executable, "-m", "seed3d", "simready", model, "-o", args.out / entry.key, "-q",
         "--preset", args.preset, "--length", f"{max(entry.size_m):.4f}"], args.limit)  # fmt: skip
    row: dict[str, Any] = {
        "key": entry.key, "name": entry.name, "seconds": round(seconds, 1), "exit_code": code,
        "state": "verified" if code == 0 else "hung" if code == -1 else "failed",
        "message": " ".join(text.split())[-600:],
    }  # fmt: skip
    made = sorted((args.out / entry.key).glob("*/report.json"))
    if not made:
        crashed = "Traceback" in text or code < 0
        row["state"] = "hung" if code == -1 else "crashed" if crashed else "refused"
        return row
    report = json.loads(made[0].read_text())
    row["hulls"] = len(report["collision"]["hulls"])
    row["fallbacks"] = [f["what"] for f in report["fallbacks"]]
    if not args.no_checkers:
        asset = made[0].parent
        row["simcheck_urdf"] = simcheck(asset / f"{asset.name}.urdf")
        row["simcheck_mjcf"] = simcheck(asset / f"{asset.name}.xml")
        row["simready"] = simready(asset / "usd" / f"{asset.name}.usda")
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--furniture", type=Path, default=Path("/usr/share/sweethome3d/furniture"))
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--out", type=Path, default=Path("out/simready"))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds per model")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-checkers", action="store_true")
    parser.add_argument("--keys", nargs="*", help="judge these models instead of a sample")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    entries = list(catalogue(args.furniture))
    chosen = random.Random(args.seed).sample(entries, min(args.count, len(entries)))
    if args.keys:
        chosen = [entry for entry in entries if entry.key in args.keys]
    args.out.mkdir(parents=True, exist_ok=True)
    kept = args.out / "rows.jsonl"
    lines = kept.read_text().splitlines() if kept.exists() else []
    done = {row["key"]: row for row in map(json.loads, lines)}
    left = [entry for entry in chosen if entry.key not in done]
    print(f"{len(chosen)} models, {len(chosen) - len(left)} kept from {kept}", flush=True)
    with ThreadPoolExecutor(args.workers) as pool, kept.open("a") as file:
        for row in pool.map(lambda entry: judge(entry, args), left):
            done[row["key"]] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{row['key']:22s}{row['name'][:24]:26s}{row['state']:10s}{row['seconds']:6.1f} s "
                  f"{'' if row['state'] == 'verified' else row['message'][-160:]}", flush=True)  # fmt: skip
    rows = [done[entry.key] for entry in chosen]
    total = summary(rows)
    print(json.dumps(total, indent=1))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({**total, "items": rows}, indent=1) + "\n")


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and medians."""
    seconds = sorted(row["seconds"] for row in rows)
    states = ("verified", "refused", "failed", "crashed", "hung")
    judged = [row for row in rows if "simready" in row and row["state"] == "verified"]
    return {
        "count": len(rows),
        **{state: sum(row["state"] == state for row in rows) for state in states},
        "judged": len(judged),
        "simcheck_urdf_pass": sum(row["simcheck_urdf"] == "PASS" for row in judged),
        "simcheck_mjcf_pass": sum(row["simcheck_mjcf"] == "PASS" for row in judged),
        "simready_pass": sum(row["simready"] == "PASS" for row in judged),
        "seconds_median": seconds[len(seconds) // 2],
        "seconds_max": seconds[-1],
    }


if __name__ == "__main__":
    main()
