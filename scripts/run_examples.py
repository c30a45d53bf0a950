"""Generate every example, judge it with the independent checkers, make the contact sheet.

Usage:
    python scripts/run_examples.py --out out/examples --sheet docs/contact_sheet.png \
        --json docs/results/examples.json
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from seed3d.evaluate.physics import judgements

PANEL = 256


def generate(photo: Path, args: argparse.Namespace) -> dict[str, Any]:
    """One photo through the command line; seconds and peak memory of the largest process."""
    command = [sys.executable, "-m", "seed3d", "generate", photo, "-o", args.out,
               "--preset", args.preset]  # fmt: skip
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory_of_tree(process.pid))
        time.sleep(0.2)
    text = process.communicate()[0]
    folder = args.out / photo.stem
    row: dict[str, Any] = {
        "photo": photo.name, "exit_code": process.returncode,
        "seconds": round(time.perf_counter() - start, 1),
        "peak_memory_gb": round(peak / 1e9, 2), "output": text.strip().splitlines()[-4:],
    }  # fmt: skip
    if not (folder / "report.json").exists():
        return row
    report = json.loads((folder / "report.json").read_text())
    row["verified"] = report["verdict"]["passed"]
    row["silhouette_iou"] = report["estimates"]["silhouette_iou"]["value"]
    row |= judgements(folder)
    return row


def memory_of_tree(pid: int) -> int:
    """Resident bytes of a process and everything it started."""
    total, page = 0, resource.getpagesize()
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page
        total += sum(memory_of_tree(int(child)) for child in children.read_text().split())
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ended between two looks
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=Path, default=Path("examples"))
    parser.add_argument("--out", type=Path, default=Path("out/examples"))
    parser.add_argument("--preset", default="default")
    parser.add_argument("--sheet", type=Path, default=Path("docs/contact_sheet.png"))
    parser.add_argument("--json", type=Path, default=Path("docs/results/examples.json"))
    args = parser.parse_args()
    photos = sorted(p for p in args.photos.iterdir() if p.suffix in (".png", ".jpg"))
    rows = []
    for photo in photos:
        rows.append(generate(photo, args))
        print(json.dumps(rows[-1]), flush=True)
    strips = [
        Image.open(args.out / photo.stem / "preview.png").convert("RGB").resize((5 * PANEL, PANEL))
        for photo in photos
        if (args.out / photo.stem / "preview.png").exists()
    ]
    args.sheet.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.concatenate([np.asarray(s) for s in strips])).save(args.sheet, optimize=True)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
