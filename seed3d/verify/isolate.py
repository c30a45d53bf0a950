"""Run parts of the verification in processes, so that a crash or a hang is only a failed check."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import seed3d
from seed3d.config import VerifyConfig
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


def run_parts(
    parts: list[str],
    folder: Path | Target,
    config: VerifyConfig,
    timeout_s: float = TIMEOUT_S,
    worker: str = "seed3d.verify.worker",
) -> list[Outcome]:
    """Run each part in a process of its own, all at the same time.

    Args:
        parts: Names from seed3d.verify.worker's PARTS, TRIALS or "pictures".
        folder: The asset's folder, or a target.
        config: Passed on.
        timeout_s: Time limit of each part [s].
        worker: Module that runs one part.

    Returns:
        One outcome per part, in the same order. Nothing the engines print gets out.
    """
    # The working directory is temporary too: MuJoCo leaves MUJOCO_LOG.TXT behind on a warning.
    with tempfile.TemporaryDirectory(prefix="seed3d_verify_") as work:
        started: list[_Running] = []
        try:
            text = as_target(folder).to_text()
            started += [_Running(worker, part, text, config, Path(work)) for part in parts]
            return [item.outcome(timeout_s) for item in started]
        finally:
            for item in started:
                item.stop()


class _Running:
    """A started worker."""

    def __init__(
        self, worker: str, part: str, target: str, config: VerifyConfig, work: Path
    ) -> None:
        self.part, self.output = part, work / f"{part}.json"
        self.log: IO[bytes] = (work / f"{part}.log").open("w+b")
        package = str(Path(seed3d.__file__).resolve().parent.parent)
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        # One thread each: the matrices are tiny, and several parts run at once.
        threads = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", worker, part),
                *(target, json.dumps(asdict(config)), str(self.output)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            cwd=work,
            env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def outcome(self, timeout_s: float) -> Outcome:
        left = max(self.began + timeout_s - time.monotonic(), 0.01)
        try:
            code = self.process.wait(left)
        except subprocess.TimeoutExpired:
            return Outcome(self.part, self._found(), f"no result after {timeout_s:g} s")
        found = self._found()
        if code == 0 and found is not None:
            return Outcome(self.part, found, "")
        return Outcome(self.part, found, self._death(code))

    def _found(self) -> dict[str, Any] | None:
        if not self.output.is_file():
            return None
        return json.loads(self.output.read_text(encoding="utf-8"))

    def _death(self, code: int) -> str:
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        last = f": {lines[-1].strip()}" if lines else ""
        if code == -_SIGXCPU:
            return f"stopped after {cpu_limit_s(self.part)} s of processor time"
        if code < 0:
            return f"crashed ({signal.Signals(-code).name}){last}"
        return f"stopped with exit code {code}{last}"

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
