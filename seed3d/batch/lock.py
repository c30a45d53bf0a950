"""One batch at a time per output folder, and none before the last one's workers are gone."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from seed3d.batch.find import STATE
from seed3d.errors import ConfigError

_HAS_LOCKS = importlib.util.find_spec("fcntl") is not None  # not on Windows
_WAIT_S = 60.0


def workers_lock(folder: Path) -> Path:
    """The file that every worker of a folder shares a lock on."""
    return folder / STATE / "runtime" / "workers.lock"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the output folder; wait for workers of a killed run, which end by themselves.

    Raises:
        ConfigError: Another batch is writing to this folder.
    """
    workers = workers_lock(folder)
    workers.parent.mkdir(parents=True, exist_ok=True)
    with workers.with_name("lock").open("a") as mine, workers.open("a") as theirs:
        if not _take(mine, exclusive=True):
            raise ConfigError(f"{folder}: another batch is writing here. Wait for it or stop it")
        end = time.monotonic() + _WAIT_S
        while not _take(theirs, exclusive=True):
            if time.monotonic() > end:
                raise ConfigError(f"{folder}: workers of an earlier batch still run. Stop them")
            time.sleep(0.05)
        _release(theirs)
        yield


def share(path: Path) -> IO[Any]:
    """Take a worker's share of the lock; it lasts as long as the returned file is open."""
    file = path.open("a")
    while not _take(file, exclusive=False):
        time.sleep(0.05)
    return file


def _take(file: IO[Any], exclusive: bool) -> bool:
    if not _HAS_LOCKS:
        return True
    import fcntl

    try:
        fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _release(file: IO[Any]) -> None:
    if _HAS_LOCKS:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)
