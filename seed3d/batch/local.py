"""Workers on this machine: one thread per worker process drives it."""

from __future__ import annotations

import dataclasses
import os
import queue
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seed3d.batch.make import process
from seed3d.batch.supervise import Job, Limits, Worker, scratch_folder

MEMORY_PER_WORKER_GB = 2.0
"""What a worker usually needs at the default preset; the default number of workers heeds it."""

Done = tuple[Job, dict[str, Any]]


def default_workers(items: int, threads: int = 1) -> int:
    """As many workers as cores over threads, memory and items allow, at least one."""
    import psutil

    has = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has else os.cpu_count() or 1
    fitting = int(psutil.virtual_memory().total / 1e9 / MEMORY_PER_WORKER_GB)
    return max(1, min(cores // max(threads, 1), fitting, items))


def run_here(jobs: Sequence[Job]) -> Iterator[Done]:
    """Do all items in the calling process: no limits, and an unexpected error passes."""
    for job in jobs:
        outcome = process(job.item, job.out, job.retry_failed, job.maker)
        yield job, {**outcome, "attempt": 1, "peak_bytes": 0}


def run_pool(
    jobs: Sequence[Job], workers: int, limits: Limits, lock: Path | None = None
) -> Iterator[Done]:
    """Do all items in worker processes; yields them as they end.

    An item whose worker died goes to the end of the queue while it has tries left.

    Raises:
        Whatever broke the driving of workers, as a full disk: the batch can't go on then.
    """
    waiting: queue.Queue[Job] = queue.Queue()
    for job in jobs:
        waiting.put(job)
    done: queue.Queue[Done | BaseException] = queue.Queue()
    pool = [Worker(limits, lock) for _ in range(min(workers, len(jobs)))]
    threads = [threading.Thread(target=_drive, args=(w, waiting, done)) for w in pool]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        for worker in pool:
            worker.stopped.set()
        for thread in threads:
            thread.join()
        shutil.rmtree(scratch_folder(), ignore_errors=True)


def _drive(worker: Worker, waiting: queue.Queue[Job], done: queue.Queue[Any]) -> None:
    try:
        while not worker.stopped.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            outcome = worker.run(job)
            if outcome is not None:
                done.put((job, outcome))
            elif not worker.stopped.is_set():
                waiting.put(dataclasses.replace(job, attempt=job.attempt + 1))
    except Exception as error:  # noqa: BLE001, handed to the main thread, which raises it
        done.put(error)
    finally:
        worker.kill()
