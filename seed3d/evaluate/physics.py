"""Mesh to asset over many inputs, judged by Seed3D's verification and two independent checkers."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seed3d.errors import InputError, Seed3DError
from seed3d.evaluate.physics_inputs import Item
from seed3d.report import load_verdict

STATES = ("verified", "refused", "unsteady", "failed", "crashed", "hung")
"""refused: an error that names its cause, nothing written; unsteady: every check passes, and the
verdict says that it rolls, rocks or topples for longer than 3 s; failed: written, not verified."""
CHECK_LIMIT_S = 300.0
"""Processor time of one checker [s]."""
GUESSED = "category guessed from the file name"
"""What simcheck says with a size that it finds odd for the kind of thing."""
CLOCK_FACTOR = 10.0
"""The clock's limit over the processor time's: a busy machine must not change a verdict."""


@dataclass(frozen=True)
class Options:
    """How to run."""

    out: Path
    preset: str = "default"
    limit_s: float = 300.0
    """Processor time of one asset, its children included; by the clock CLOCK_FACTOR times that."""
    checkers: bool = True


def judge_all(items: list[Item], options: Options, workers: int) -> Iterator[dict[str, Any]]:
    """Yield one row per item; rows of an earlier run with the same options are taken as they are."""
    options.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda item: _row(item, options), items)


def adopt(table: Path, options: Options) -> int:
    """Take over the rows of another run's table that were made with the same options.

    Returns:
        How many were new here.

    Raises:
        InputError: The file is no such table.
    """
    asked = _asked(options)
    fresh = [
        row
        for row in _rows_of(table)
        if asked.items() <= row.items() and _known(options, row["key"]) is None
    ]
    for row in fresh:
        _write_row(row, options)
    return len(fresh)


def _rows_of(table: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(table.read_text())["items"]
        if all({"key", "kind", "state", "seconds"} <= row.keys() for row in rows):
            return rows
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InputError(f"{table}: got no table of `seed3d evaluate physics --json`; wanted its items")


def _asked(options: Options) -> dict[str, Any]:
    return {"preset": options.preset, "checkers": options.checkers}


def _row_file(options: Options, key: str) -> Path:
    if Path(key).name != key:
        raise InputError(f"rows: got the key {key!r}; wanted a plain name")
    return options.out / key / "row.json"


def _known(options: Options, key: str) -> dict[str, Any] | None:
    """The row that is there already, made with the same options."""
    done = _row_file(options, key)
    row = json.loads(done.read_text()) if done.is_file() else {}
    return row if _asked(options).items() <= row.items() else None


def _row(item: Item, options: Options) -> dict[str, Any]:
    row = _known(options, item.key)
    if row is None:
        row = {**judge(item, options), **_asked(options)}
        _write_row(row, options)
    return row


def _write_row(row: dict[str, Any], options: Options) -> None:
    done = _row_file(options, row["key"])
    done.parent.mkdir(parents=True, exist_ok=True)
    fresh = done.with_suffix(".new")
    fresh.write_text(json.dumps(row, indent=1))
    fresh.replace(done)  # whole or not at all: a run that is stopped goes on here


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
        if row["state"] == "verified" and row["unsteady"]:
            row["state"] = "unsteady"
    if made and row["state"] == "verified" and options.checkers:
        row |= judgements(made[0].parent, item)
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
    collision, verdict = report["collision"], load_verdict(report)
    kinds = [h.get("primitive", {}).get("kind", "hull") for h in collision["hulls"]]
    return {
        "hulls": len(kinds),
        "bodies": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "volume_ratio": round(collision["volume_ratio"], 4),
        "measures": collision.get("measures", {}),
        "fallbacks": [f["what"] for f in report["fallbacks"]],
        "unsteady": verdict.unsteady if verdict else "",
        "failed_checks": [
            f"{c['engine']} {c['name']}: {c['value']}; wanted {c['wanted']}".strip()
            for c in report["verdict"]["checks"]
            if not c["passed"]
        ],
    }


def judgements(asset: Path, item: Item) -> dict[str, Any]:
    """PASS, or what the checkers found (warnings count).

    Where simcheck takes a size for wrong because of the kind of thing that it guesses from the
    file's name, and the true size is known, it is told both; the row says so.
    """
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
        if code and item.length_m and GUESSED in text:
            found["simcheck_category"] = item.name
            told = _told(asset.parent / "simcheck.toml", item.name.lower(), item.length_m)
            code, text, _, _ = _run([*command, "--config", str(told)], CHECK_LIMIT_S)
        found[key] = "PASS" if code == 0 else f"{code}: {text.strip()[-600:]}"
    return found


def _told(path: Path, kind: str, length_m: float) -> Path:
    """Write what an object truly is and how large."""
    name, (low, high) = json.dumps(kind), (0.9 * length_m, 1.1 * length_m)
    path.write_text(f"category = {name}\n[categories]\n{name} = [{low:.4g}, {high:.4g}]\n")
    return path


def _simcheck(path: Path) -> list[str]:
    return [sys.executable, "-m", "simcheck", "check", str(path), "--fail-on", "warning"]


def _run(command: list[str], limit_s: float) -> tuple[int | None, str, float, float]:
    """Exit code (None past the limit), output, seconds by the clock, processor seconds.

    The command leads a process group; past the limit the whole group is killed.
    """
    start = time.perf_counter()
    with (
        tempfile.TemporaryFile() as said,  # a pipe would wait for children that live on
        subprocess.Popen(
            command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        ) as process,
    ):
        usage, over = None, ""
        while usage is None:
            pid, status, used = os.wait4(process.pid, os.WNOHANG if not over else 0)
            usage = used if pid else None
            if usage is None:
                over = _past(process.pid, time.perf_counter() - start, limit_s)
                if over:
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    time.sleep(0.1)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = over or said.read().decode(errors="replace")
    cpu = usage.ru_utime + usage.ru_stime
    code = None if over or cpu > limit_s else process.returncode
    return code, text, time.perf_counter() - start, cpu


def _past(group: int, seconds: float, limit_s: float) -> str:
    """Say which limit a process group is past; empty where none."""
    if seconds > CLOCK_FACTOR * limit_s:
        return f"no answer in {CLOCK_FACTOR * limit_s:.0f} s"
    if seconds > limit_s / (os.cpu_count() or 1) and group_cpu_s(group) > limit_s:
        return f"no answer after {limit_s:.0f} s of processor time"
    return ""


def group_cpu_s(group: int) -> float:
    """Processor time of the live processes of a group and of their ended children [s]; Linux."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if int(fields[2]) == group:
            ticks += sum(int(n) for n in fields[11:15])  # utime, stime, cutime, cstime
    return ticks / os.sysconf("SC_CLK_TCK")


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
