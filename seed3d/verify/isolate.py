"""Run parts of the verification in processes, so that a crash or a hang is only a failed check."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import seed3d
from seed3d.config import VerifyConfig
from seed3d.verify.launch import CODES, Request
from seed3d.verify.target import Target, as_target

TIMEOUT_S = 600.0
"""Longest time of one part by the clock [s]. A part that computes without end is stopped by its
processor time, long before: a busy machine must not change a verdict."""
CPU_LIMIT_S = 90
"""Longest processor time of one part [s]; a normal asset takes 1 to 3 s."""
TRIALS_CPU_LIMIT_S = 240
"""The same for all trials of the full verification in one engine; normal are 2 to 20 s."""
_SIGXCPU = getattr(signal, "SIGXCPU", 0)  # not on Windows, where only the clock counts


def cpu_limit_s(part: str) -> int:
    """Return the processor time that a part may take [s]."""
    return TRIALS_CPU_LIMIT_S if part.startswith("trials") else CPU_LIMIT_S


@dataclass(frozen=True)
class Outcome:
    """What became of one part."""

    part: str
    result: dict[str, Any] | None
    """The worker's JSON; of one that didn't finish, what it had until then, or None."""
    problem: str
    """Why it didn't finish, empty where it did."""


class Launcher:
    """A process that has imported what every part needs, so that parts start at once.

    Whoever knows that a verification is to come opens one beforehand. It runs one set of parts.
    """

    def __init__(self) -> None:
        self.work = tempfile.TemporaryDirectory(prefix="seed3d_verify_")
        folder = Path(self.work.name)
        self.log, self.ended = folder / "launch.log", folder / CODES
        package = str(Path(seed3d.__file__).resolve().parent.parent)
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        # One thread each: the matrices are tiny, and several parts run at once.
        threads = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        # No part draws with MuJoCo, which would look for a window system for half a second.
        options = {**threads, "MUJOCO_GL": "disable", "PYTHONPATH": os.pathsep.join(paths)}
        with self.log.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "seed3d.verify.launch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                # Temporary too: MuJoCo leaves MUJOCO_LOG.TXT behind on a warning.
                cwd=folder,
                env={**os.environ, **options},
            )

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, and what it still runs."""
        with self.work, self.process:
            _close(self.process.stdin)  # type: ignore[arg-type]

    def run(self, request: Request, timeout_s: float) -> tuple[dict[str, int], str]:
        """Run the parts, in the launcher's own folder; return their exit codes, and why those without one have none."""
        pipe: IO[bytes] = self.process.stdin  # type: ignore[assignment]
        answer: IO[bytes] = self.process.stdout  # type: ignore[assignment]
        try:
            pipe.write(json.dumps(asdict(request)).encode() + b"\n")
            pipe.flush()
            answer.readline()  # the time counts from here, where the parts run
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return _read(self.ended) or {}, f"no result after {timeout_s:g} s"
        except BrokenPipeError:
            self.process.wait()
        return _read(self.ended) or {}, f"could not start{_last_line(self.log)}"


def run_parts(
    parts: list[str],
    folder: Path | Target,
    config: VerifyConfig,
    timeout_s: float = TIMEOUT_S,
    worker: str = "seed3d.verify.worker",
    launcher: Launcher | None = None,
) -> list[Outcome]:
    """Run each part in a process of its own, all at the same time.

    Args:
        parts: Names from seed3d.verify.worker's PARTS, TRIALS or "pictures".
        folder: The asset's folder, or a target.
        config: Passed on.
        timeout_s: Time limit of each part [s].
        worker: Module that runs one part.
        launcher: Opened beforehand, to save its time to start; it can't be used again.

    Returns:
        One outcome per part, in the same order. Nothing the engines print gets out.
    """
    if not parts:
        return []  # without the time that a process takes to start
    with Launcher() if launcher is None else contextlib.nullcontext(launcher) as launcher:
        work = launcher.work.name
        text = as_target(folder).to_text()
        request = Request(worker, parts, text, json.dumps(asdict(config)), work)
        codes, problem = launcher.run(request, timeout_s)
        return [_outcome(Path(work), part, codes.get(part), problem) for part in parts]


def _close(pipe: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


def _outcome(work: Path, part: str, code: int | None, problem: str) -> Outcome:
    found = _read(work / f"{part}.json")
    if code is None:
        return Outcome(part, found, problem)
    if code == 0 and found is not None:
        return Outcome(part, found, "")
    return Outcome(part, found, _death(part, code, _last_line(work / f"{part}.log")))


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _last_line(log: Path) -> str:
    text = log.read_bytes().decode(errors="replace") if log.is_file() else ""
    lines = text.strip().splitlines()
    return f": {lines[-1].strip()}" if lines else ""


def _death(part: str, code: int, last: str) -> str:
    if code == -_SIGXCPU:
        return f"stopped after {cpu_limit_s(part)} s of processor time"
    if code < 0:
        return f"crashed ({signal.Signals(-code).name}){last}"
    return f"stopped with exit code {code}{last}"
