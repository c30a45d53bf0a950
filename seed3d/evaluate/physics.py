"""Mesh to asset over many inputs, judged by Seed3D's verification and two independent checkers."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seed3d.errors import Seed3DError
from seed3d.evaluate.physics_inputs import Item

STATES = ("verified", "refused", "failed", "crashed", "hung")
"""refused: an error that names its cause, nothing written; failed: written, but not verified."""
CHECK_LIMIT_S = 600.0


@dataclass(frozen=True)
class Options:
    """How to run."""

    out: Path
    preset: str = "default"
    limit_s: float = 300.0
    """Processor time of one asset; by the clock ten times that."""
    checkers: bool = True


def judge_all(items: list[Item], options: Options, workers: int) -> Iterator[dict[str, Any]]:
    """Yield one row per item; rows of an earlier run in the same folder are taken as they are."""
    options.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda item: _row(item, options), items)


def _row(item: Item, options: Options) -> dict[str, Any]:
    done = options.out / item.key / "row.json"
    if done.is_file():
        return json.loads(done.read_text())
    row = judge(item, options)
    done.parent.mkdir(parents=True, exist_ok=True)
    done.write_text(json.dumps(row, indent=1))
    return row


def judge(item: Item, options: Options) -> dict[str, Any]:
    """One mesh through the command line, in a process of its own, and through the checkers."""
    folder = options.out / item.key
    row: dict[str, Any] = {"key": item.key, "kind": item.kind, "name": item.name}
    try:
        model = item.prepare(folder / "input")
    except (Seed3DError, OSError) as error:
        return {**row, "state": "refused", "message": str(error), "seconds": 0.0}
    command = [sys.executable, "-m", "seed3d", "simready", str(model), "-o", str(folder / "asset"),
               "-q", "--preset", options.preset]  # fmt: skip
    command += ["--length", f"{item.length_m:.4f}"] if item.length_m else []
    command += ["--up", item.up] if item.up else []
    code, text, seconds, cpu = _run(command, options.limit_s)
    row |= {"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "exit_code": code}
    row["message"] = " ".join(text.split())[-600:]
    made = sorted((folder / "asset").glob("*/report.json"))
    row["state"] = _state(code, text, bool(made))
    if made:
        row |= _facts(json.loads(made[0].read_text()))
    if made and row["state"] == "verified" and options.checkers:
        row |= _judgements(made[0].parent)
    return row


def _state(code: int | None, text: str, made: bool) -> str:
    if code is None:
        return "hung"
    if code < 0 or "Traceback" in text:
        return "crashed"
    if made:
        return "verified" if code == 0 else "failed"
    return "refused"


def _facts(report: dict[str, Any]) -> dict[str, Any]:
    collision = report["collision"]
    kinds = [h.get("primitive", {}).get("kind", "hull") for h in collision["hulls"]]
    return {
        "hulls": len(kinds),
        "bodies": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "volume_ratio": round(collision["volume_ratio"], 4),
        "measures": collision.get("measures", {}),
        "fallbacks": [f["what"] for f in report["fallbacks"]],
        "failed_checks": [
            f"{c['engine']} {c['name']}: {c['value']}; wanted {c['wanted']}".strip()
            for c in report["verdict"]["checks"]
            if not c["passed"]
        ],
    }


def _judgements(asset: Path) -> dict[str, Any]:
    """PASS, or what the checkers found (warnings count)."""
    tool = Path(sys.executable).parent / "simready-validate"
    name = asset.name
    checks = {
        "simcheck_urdf": _simcheck(asset / f"{name}.urdf"),
        "simcheck_mjcf": _simcheck(asset / f"{name}.xml"),
        "simready": [str(tool), "--profile", "Robotics-Prop", "--version", "3.1.0",
                     str(asset / "usd" / f"{name}.usda")],
    }  # fmt: skip
    found = {}
    for key, command in checks.items():
        code, text, _, _ = _run(command, CHECK_LIMIT_S)
        found[key] = "PASS" if code == 0 else f"{code}: {text.strip()[-600:]}"
    return found


def _simcheck(path: Path) -> list[str]:
    return [sys.executable, "-m", "simcheck", "check", str(path), "--fail-on", "warning"]


def _run(command: list[str], limit_s: float) -> tuple[int | None, str, float, float]:
    """Exit code (None past the limit), output, seconds by the clock, processor seconds."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        timer = ThreadPoolExecutor(1)
        reading = timer.submit(process.stdout.read)  # type: ignore[union-attr]
        usage = None
        while usage is None and time.perf_counter() - start < 10.0 * limit_s:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            usage = used if pid else None
            if usage is None:
                time.sleep(0.05)
        if usage is None:
            os.killpg(process.pid, signal.SIGKILL)
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = -9
            return None, f"no answer in {10 * limit_s:.0f} s", time.perf_counter() - start, 0.0
        process.returncode = os.waitstatus_to_exitcode(status)
        text = reading.result().decode(errors="replace")
        timer.shutdown()
    cpu = usage.ru_utime + usage.ru_stime
    code = None if cpu > limit_s else process.returncode
    return code, text, time.perf_counter() - start, cpu


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, shares and medians over the rows of `judge_all`."""
    judged = [r for r in rows if r["state"] == "verified" and "simready" in r]
    both = [(r["simcheck_urdf"], r["simcheck_mjcf"]) for r in judged]
    seconds = [r["seconds"] for r in rows if r["state"] == "verified"]
    cpu = [r["cpu_seconds"] for r in rows if r["state"] == "verified"]
    hulls = [r["hulls"] for r in rows if "hulls" in r]
    count = {state: sum(r["state"] == state for r in rows) for state in STATES}
    return {
        "count": len(rows),
        **count,
        "judged": len(judged),
        "simcheck_pass": sum(pair == ("PASS", "PASS") for pair in both),
        "simcheck_warn": sum(pair != ("PASS", "PASS") for pair in both),
        "simready_pass": sum(r["simready"] == "PASS" for r in judged),
        "seconds_median": statistics.median(seconds) if seconds else None,
        "cpu_seconds_median": statistics.median(cpu) if cpu else None,
        "hulls_mean": round(statistics.mean(hulls), 2) if hulls else None,
        "by_kind": {
            kind: {s: sum(r["state"] == s and r["kind"] == kind for r in rows) for s in STATES}
            for kind in sorted({r["kind"] for r in rows})
        },
    }
