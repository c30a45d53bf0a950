"""One worker process and its limits; replaced when it dies."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import seed3d
from seed3d.batch.make import MAKER, give_up
from seed3d.batch.plan import Item

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
           "VECLIB_MAXIMUM_THREADS")  # fmt: skip
_LOOK_S = 0.2
"""Time between two looks at a worker's memory and clock [s]."""


@dataclass(frozen=True)
class Limits:
    """What one item may take."""

    time_s: float | None = 1800.0
    """Clock time [s]; the first item of a worker also loads the model in it."""
    memory_gb: float | None = None
    """Resident memory of the worker and everything it started [GB]."""
    retries: int = 2
    """How often an item is tried again after its worker was killed or crashed."""
    threads: int = 1
    """Threads per worker. Another number may change the last bits of results."""


@dataclass(frozen=True)
class Job:
    """One item on its way to a worker."""

    item: Item
    out: str
    retry_failed: bool = False
    maker: str = MAKER
    attempt: int = 1


class Worker:
    """Runs items in a process of its own, started when it's first needed."""

    def __init__(self, limits: Limits, lock: Path | None = None) -> None:
        self.limits, self.lock = limits, lock
        self.process: subprocess.Popen[str] | None = None
        self.stopped = threading.Event()
        self._lines: queue.Queue[str | None] = queue.Queue()

    def run(self, job: Job) -> dict[str, Any] | None:
        """Do one item.

        Returns:
            `process`'s outcome with attempt and peak_bytes; None where the worker died and the
            item has tries left, or where `stop` was called.
        """
        process = self._started()
        data = {"item": job.item.to_plain(), "out": job.out, "retry_failed": job.retry_failed,
                "maker": job.maker}  # fmt: skip
        with contextlib.suppress(BrokenPipeError):  # it's dead: told below
            assert process.stdin is not None
            process.stdin.write(json.dumps(data) + "\n")
            process.stdin.flush()
        start, peak = time.monotonic(), 0
        while not self.stopped.is_set():
            try:
                line = self._lines.get(timeout=_LOOK_S)
            except queue.Empty:
                peak = max(peak, memory_of_tree(process.pid))
                broken = self._broken(time.monotonic() - start, peak)
                if broken:
                    self.kill()
                    return self._told(give_up(job.item, job.out, *broken), job, peak, start)
                continue
            if line is not None:
                return self._told(json.loads(line), job, peak, start)
            return self._died(job, peak, start)
        return None

    def _started(self) -> subprocess.Popen[str]:
        if self.process is not None and self.process.poll() is None:
            return self.process
        self.kill()
        self._scratch = tempfile.mkdtemp(prefix="w", dir=scratch_folder())
        self._log = (Path(self._scratch) / "stderr.txt").open("w+", encoding="utf-8")
        package = str(Path(seed3d.__file__).resolve().parent.parent)
        paths = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        own = {**dict.fromkeys(THREADS, str(self.limits.threads)), "PYTHONPATH": paths,
               "TMPDIR": self._scratch}  # fmt: skip
        command = [sys.executable, "-m", "seed3d.batch.worker"]
        self.process = subprocess.Popen(
            [*command, *([str(self.lock)] if self.lock else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            encoding="utf-8", env={**os.environ, **own}, start_new_session=True,
        )  # fmt: skip
        self._lines = queue.Queue()
        threading.Thread(target=_read, args=(self.process, self._lines), daemon=True).start()
        return self.process

    def _broken(self, seconds: float, memory: int) -> tuple[str, str] | None:
        limits = self.limits
        if limits.time_s is not None and seconds > limits.time_s:
            return "time", f"took longer than the limit of {limits.time_s:g} s (--time-limit)"
        if limits.memory_gb is not None and memory > limits.memory_gb * 1e9:
            return "memory", f"took more than the limit of {limits.memory_gb:g} GB (--memory-limit)"
        return None

    def _died(self, job: Job, peak: int, start: float) -> dict[str, Any] | None:
        assert self.process is not None
        code = self.process.wait()
        said = self._said()
        self.kill()
        if code == 1:  # Python's exit code after an error that nobody expected: no use to repeat
            cause = f"unexpected error, please report it: {said[-1].strip()}"
            outcome = give_up(job.item, job.out, "error", cause)
            return self._told({**outcome, "said": said}, job, peak, start)
        if job.attempt <= self.limits.retries:
            return None
        what = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with {code}"
        hint = "; is the memory enough?" if code == -signal.SIGKILL else ""
        cause = f"its worker {what} in each of {job.attempt} tries{hint}"
        outcome = give_up(job.item, job.out, "crash", cause)
        return self._told({**outcome, "said": said}, job, peak, start)

    def _told(self, outcome: dict[str, Any], job: Job, peak: int, start: float) -> dict[str, Any]:
        if self.process is not None and self.process.poll() is None:
            peak = max(peak, memory_of_tree(self.process.pid))
        outcome["seconds"] = round(time.monotonic() - start, 3)
        return {**outcome, "attempt": job.attempt, "peak_bytes": peak}

    def _said(self) -> list[str]:
        """The end of the worker's standard error, for the runtime log; at least one line."""
        self._log.seek(0)
        return self._log.read().strip().splitlines()[-30:] or ["nothing said"]

    def kill(self) -> None:
        """End the process and everything it started, and remove its temporary files."""
        if self.process is None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):  # the whole group is gone already
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self._log):
            _close(pipe)
        self.process = None
        shutil.rmtree(self._scratch, ignore_errors=True)


def _close(pipe: Any) -> None:
    with contextlib.suppress(BrokenPipeError):  # unsent input of a dead process
        pipe.close()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put(None)


def memory_of_tree(pid: int) -> int:
    """Resident bytes of a process and everything it started; shared pages count each time."""
    import psutil

    total = 0
    try:
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            try:
                total += one.memory_info().rss
            except psutil.NoSuchProcess:
                continue  # it ended between two looks
    except psutil.NoSuchProcess:
        return total
    return total


def scratch_folder() -> Path:
    """This process's folder for workers' temporary files; those of dead processes are removed."""
    import psutil

    base = Path(tempfile.gettempdir())
    for old in base.glob("seed3d-batch-p*"):
        pid = old.name.removeprefix("seed3d-batch-p")
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(old, ignore_errors=True)
    mine = base / f"seed3d-batch-p{os.getpid()}"
    mine.mkdir(mode=0o700, exist_ok=True)
    return mine
