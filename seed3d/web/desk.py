"""Between the page and the processes: starts jobs, follows them, knows whose they are."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seed3d.web import words
from seed3d.web.pool import Job, Pool
from seed3d.web.settings import WebSettings
from seed3d.web.workspace import Workspace

_SHARED = ["physics", "preview", "export", "verify", "pack"]
STAGES = {
    "find_mask": ["image"],
    "make_photo": ["image", "geometry", "mesh", "unwrap", "texture", "pictures", "hulls", *_SHARED],
    "make_mesh": ["load", "mesh", "unwrap", "texture", "pictures", "hulls", *_SHARED],
    "change_physics": ["load", *_SHARED],
    "film": ["clip"],
    "make_scene": ["load", "settle", "verify", "export", "pack"],
}
"""Stages of each task, in order."""
_FIRST_GUESS_S = {"geometry": 12.0, "hulls": 8.0, "verify": 5.0, "unwrap": 3.0, "texture": 3.0,
                  "clip": 5.0, "mesh": 2.0, "image": 2.0}  # fmt: skip


class Forecast:
    """Expected seconds per stage: first a guess, then what this machine took."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], float] = {}

    def expected(self, kind: str, stage: str) -> float:
        """Return the stage's seconds for a kind of job (task and preset)."""
        return self.known.get((kind, stage), _FIRST_GUESS_S.get(stage, 1.0))

    def learn(self, kind: str, stage: str, seconds: float) -> None:
        """Take a measured time in."""
        old = self.known.get((kind, stage), seconds)
        self.known[kind, stage] = 0.5 * (old + seconds)

    def left(self, kind: str, stages: list[str], done: dict[str, float], now: str,
             running_s: float) -> float:  # fmt: skip
        """Return the seconds left, corrected by how the finished stages went."""
        planned = sum(self.expected(kind, s) for s in done)
        pace = (sum(done.values()) + 1.0) / (planned + 1.0)
        rest = sum(self.expected(kind, s) for s in stages if s not in done and s != now)
        current = self.expected(kind, now) if now else 0.0
        return pace * rest + max(pace * current - running_s, 0.1 * pace * current)


class Desk:
    """One per server."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.workspace = Workspace(settings.keep_minutes)
        self.pool = Pool(self.workspace.work, settings.job_minutes, settings.memory_gb)
        self.forecast = Forecast()
        self.lock = threading.Lock()
        self.running: dict[str, set[Job]] = {}
        self.tokens: dict[str, set[str]] = {}
        self.made: dict[str, list[tuple[str, str]]] = {}

    def new_job(self, session: str) -> tuple[str, Path]:
        """Make a job's folder that lives as long as the session or `keep_minutes`."""
        token = self.workspace.new_job()
        with self.lock:
            self.tokens.setdefault(session, set()).add(token)
        return token, self.workspace.jobs / token

    def add_asset(self, session: str, token: str, name: str) -> None:
        """Remember a finished asset for the scene tab."""
        with self.lock:
            self.made.setdefault(session, []).append((token, name))

    def assets(self, session: str) -> list[tuple[str, str]]:
        """Return (token, name) of the session's assets that are still there."""
        with self.lock:
            made = list(self.made.get(session, ()))
        return [one for one in made if (self.workspace.jobs / one[0]).is_dir()]

    def follow(
        self, session: str, task: str, kind: str, token: str = "", **arguments: Any
    ) -> Iterator[tuple[str, Any]]:
        """Run a task; yield ("progress", HTML) as it goes and last ("result", value).

        Args:
            session: Whose job it is.
            task: Name in `tasks.TASKS`.
            kind: What the forecast knows its times by.
            token: Job folder that the sweeper must leave alone meanwhile.
            arguments: Of the task.

        Raises:
            StageError: The job failed.
            Cancelled: By `cancel`.
        """
        stages = STAGES[task]
        job = self.pool.start(task, **arguments)
        with self.lock:
            self.running.setdefault(session, set()).add(job)
            self.workspace.busy.add(token)
        try:
            yield from self._reports(job, kind, stages)
        finally:
            with self.lock:
                self.running.get(session, set()).discard(job)
                self.workspace.busy.discard(token)

    def _reports(self, job: Job, kind: str, stages: list[str]) -> Iterator[tuple[str, Any]]:
        done, now = dict[str, float](), ""
        began = at = time.monotonic()
        with contextlib.closing(job.messages()) as messages:  # closing kills what isn't done
            for message in messages:
                time_now = time.monotonic()
                if "result" in message or "stage" in message:
                    if now:
                        done[now] = time_now - at
                        self.forecast.learn(kind, now, time_now - at)
                    now, at = message.get("stage", ""), time_now
                if "result" in message:
                    yield "result", message["result"]
                    return
                left = self.forecast.left(kind, stages, done, now, time_now - at)
                yield "progress", words.progress(stages, done, now, time_now - began, left)

    def finish(self, session: str, task: str, kind: str, token: str = "", **arguments: Any) -> Any:
        """Run a task to its end and return its value."""
        value: Any = None
        for _, value in self.follow(session, task, kind, token, **arguments):  # noqa: B007
            pass
        return value

    def cancel(self, session: str) -> int:
        """Stop a session's jobs at once; return how many."""
        with self.lock:
            jobs = list(self.running.get(session, ()))
        for job in jobs:
            job.cancel()
        return len(jobs)

    def forget(self, session: str) -> None:
        """Stop a session's jobs and delete its results: its page was closed."""
        self.cancel(session)
        with self.lock:
            tokens = self.tokens.pop(session, set())
            self.running.pop(session, None)
            self.made.pop(session, None)
        for token in tokens:
            self.workspace.drop(token)

    def close(self) -> None:
        """End everything."""
        self.pool.close()
        self.workspace.close()
