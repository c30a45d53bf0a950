"""Worker processes: kept warm between jobs, killed to cancel."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import seed3d
from seed3d.errors import StageError

RETIRE_AFTER = 20
"""Jobs after which a process is replaced, so that no leak adds up."""
TICK_S = 0.5
"""How often a running job is heard of even where nothing happens [s]."""


class Cancelled(Exception):
    """The user stopped the job."""


class Worker:
    """One process that runs `seed3d.web.worker`."""

    def __init__(self, folder: Path, memory_gb: float) -> None:
        self.log = tempfile.TemporaryFile("w+b")  # noqa: SIM115, lives as long as the process
        package = str(Path(seed3d.__file__).resolve().parent.parent)
        path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "seed3d.web.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            cwd=folder,  # MuJoCo leaves its log where it runs
            start_new_session=True,  # its own children are killed with it
            env={
                **os.environ,
                "PYTHONPATH": path,
                "SEED3D_WEB_MEMORY_GB": str(memory_gb),
                "TMPDIR": str(folder),
            },
        )
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.jobs = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError):  # closed by kill
            for line in self.process.stdout:
                self.messages.put(json.loads(line))
        self.messages.put(None)

    def send(self, task: str, arguments: dict[str, Any]) -> None:
        """Start a job."""
        assert self.process.stdin is not None
        self.jobs += 1
        with contextlib.suppress(BrokenPipeError):  # dead: `messages` will tell
            self.process.stdin.write(json.dumps({"task": task, "arguments": arguments}) + "\n")
            self.process.stdin.flush()

    def death(self) -> str:
        """Say in words how the process ended."""
        code = self.process.wait()
        self.log.seek(0)
        said = self.log.read().decode(errors="replace").strip().splitlines()
        last = f": {said[-1].strip()[:300]}" if said else ""
        word = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"the worker process stopped ({word}){last}"

    def kill(self) -> None:
        """End the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Job:
    """One running piece of work."""

    def __init__(self, pool: Pool, task: str, arguments: dict[str, Any]) -> None:
        self.pool, self.cancelled = pool, False
        self.worker = pool.take()
        self.began = time.monotonic()
        self.worker.send(task, arguments)

    def cancel(self) -> None:
        """Stop at once."""
        self.cancelled = True
        self.worker.kill()

    def messages(self) -> Generator[dict[str, Any], None, None]:
        """Yield {"stage": name}, {} at every tick, and last {"result": value}.

        Raises:
            StageError: The job failed, with the reason for the user, or took too long.
            Cancelled: By `cancel`.
        """
        done = False
        try:
            while True:
                try:
                    message = self.worker.messages.get(timeout=TICK_S)
                except queue.Empty:
                    if time.monotonic() - self.began > self.pool.job_s:
                        raise StageError(
                            f"took longer than {self.pool.job_s / 60:g} minutes; stopped"
                        ) from None
                    yield {}
                    continue
                if self.cancelled:
                    raise Cancelled
                if message is None:
                    raise StageError(f"{self.worker.death()}. Try a smaller or simpler input")
                done = "error" in message or "result" in message
                if "error" in message:
                    raise StageError(message["error"])
                if "ready" not in message:
                    yield message
                if done:
                    return
        finally:  # also where the page went away and nobody listens any more
            self.pool.give_back(self.worker, done)

    def result(self) -> Any:
        """Wait for the result."""
        last: dict[str, Any] = {}
        for last in self.messages():  # noqa: B007
            pass
        return last["result"]


class Pool:
    """Idle workers, and the running ones."""

    def __init__(self, folder: Path, job_minutes: float, memory_gb: float, warm: int = 1) -> None:
        self.folder, self.job_s, self.memory_gb = folder, 60.0 * job_minutes, memory_gb
        self.lock = threading.Lock()
        self.idle = [Worker(folder, memory_gb) for _ in range(warm)]
        self.running: set[Worker] = set()

    def take(self) -> Worker:
        """Return an idle worker, or a new one."""
        with self.lock:
            while self.idle:
                worker = self.idle.pop()
                if worker.process.poll() is None:
                    break
            else:
                worker = Worker(self.folder, self.memory_gb)
            self.running.add(worker)
            return worker

    def give_back(self, worker: Worker, healthy: bool) -> None:
        """Keep a worker for the next job, or end it."""
        with self.lock:
            self.running.discard(worker)
            if healthy and worker.jobs < RETIRE_AFTER and worker.process.poll() is None:
                self.idle.append(worker)
                return
        worker.kill()

    def start(self, task: str, **arguments: Any) -> Job:
        """Start a job; concurrency is bounded by the queue in front."""
        return Job(self, task, arguments)

    def close(self) -> None:
        """End every process."""
        with self.lock:
            workers = [*self.idle, *self.running]
            self.idle.clear()
        for worker in workers:
            worker.kill()
