"""The one folder a server writes to: uploads, results and logs; cleaned by age and at the end."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
import time
from pathlib import Path

from seed3d.errors import InputError

PREFIX = "seed3d-web-"


class Workspace:
    """A private folder in the system's temporary one, with a sweeper.

    `cache` holds what Gradio stores (uploads and copies of results), `jobs` one folder per job,
    `work` the temporary files of the processes.
    Job folders have unguessable names; nothing is found by joining a user's text to a path.
    """

    def __init__(self, keep_minutes: float, parent: str | Path | None = None) -> None:
        parent = Path(parent or tempfile.gettempdir()).resolve()
        remove_leftovers(parent)
        self.root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
        self.cache, self.jobs, self.work = (self.root / n for n in ("cache", "jobs", "work"))
        for folder in (self.cache, self.jobs, self.work):
            folder.mkdir()
        self.keep_s = 60.0 * keep_minutes
        self.busy: set[str] = set()
        """Job folders that the sweeper leaves alone."""
        self._stop = threading.Event()
        self._sweeper = threading.Thread(target=self._run, name="seed3d-sweeper", daemon=True)
        self._sweeper.start()

    def new_job(self) -> str:
        """Make a job's folder and return its token."""
        token = secrets.token_hex(16)
        (self.jobs / token).mkdir()
        return token

    def job(self, token: str) -> Path:
        """Return the folder of a token that `new_job` gave.

        Raises:
            InputError: No such job, or it was cleaned up.
        """
        known = isinstance(token, str) and len(token) == 32 and token.isalnum()
        if not known or not (self.jobs / token).is_dir():
            raise InputError(
                f"this asset is no longer kept (after {self.keep_s / 60:g} minutes results are "
                "deleted); make it again"
            )
        return self.jobs / token

    def drop(self, token: str) -> None:
        """Delete a job's folder."""
        shutil.rmtree(self.jobs / token, ignore_errors=True)

    def sweep(self, now: float | None = None) -> int:
        """Delete what is older than `keep_minutes`; return how many entries went."""
        now = time.time() if now is None else now
        gone = 0
        for entry in self.root.glob("*/*"):
            if entry.name in self.busy or now - _newest(entry) < self.keep_s:
                continue
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
            gone += 1
        return gone

    def close(self) -> None:
        """Delete everything."""
        self._stop.set()
        shutil.rmtree(self.root, ignore_errors=True)

    def _run(self) -> None:
        while not self._stop.wait(max(0.5, min(30.0, self.keep_s / 4))):
            self.sweep()


def remove_leftovers(parent: Path) -> None:
    """Delete the folders of servers that were killed."""
    for folder in parent.glob(f"{PREFIX}*-*"):
        number = folder.name[len(PREFIX) :].split("-")[0]
        if number.isdigit() and not _alive(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _newest(entry: Path) -> float:
    """Time of the last change of an entry or, for a folder, of what it directly holds."""
    times = [0.0]
    for path in (entry, *(entry.glob("*") if entry.is_dir() else ())):
        try:
            times.append(path.stat().st_mtime)
        except FileNotFoundError:  # deleted meanwhile
            continue
    return max(times)
