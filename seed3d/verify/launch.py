"""Starts the parts of a verification: python -m seed3d.verify.launch, request as JSON on stdin.

On Linux the modules that every part needs are imported once, then each part is a fork of this
process: as apart from the others as a process of its own, without their time to import. It never
imports an engine itself. When stdin closes (the parent asks for it, or is dead) every part is killed.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

SHARED = ("numpy", "scipy.spatial", "scipy.sparse.csgraph", "trimesh", "seed3d.verify.worker")
"""What the parts import anyway."""
CODES = "codes.json"
"""Part to exit code, negative for a signal; written anew whenever a part ends."""


@dataclass(frozen=True)
class Request:
    """What to start."""

    worker: str
    """Module that runs one part."""
    parts: list[str]
    target: str
    config: str
    work: str
    """Folder for PART.json, PART.log and CODES."""

    def arguments(self, part: str) -> list[str]:
        """Return the worker's arguments for one part."""
        return [part, self.target, self.config, str(Path(self.work) / f"{part}.json")]


def _fork(request: Request, part: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    _redirect(request, part)
    sys.argv = [request.worker, *request.arguments(part)]
    runpy.run_module(request.worker, run_name="__main__", alter_sys=True)
    sys.exit(0)


def _redirect(request: Request, part: str) -> None:
    log = os.open(Path(request.work) / f"{part}.log", os.O_WRONLY | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)


def _spawn(request: Request, part: str) -> int:
    with (Path(request.work) / f"{part}.log").open("wb") as log:
        command = [sys.executable, "-m", request.worker, *request.arguments(part)]
        null = subprocess.DEVNULL
        return subprocess.Popen(command, stdin=null, stdout=log, stderr=subprocess.STDOUT).pid


def _kill_at_end_of_stdin(pids: list[int]) -> None:
    import signal

    sys.stdin.buffer.read()
    for pid in pids:
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def main() -> None:
    """Start every part, say so on stdout, and wait for all."""
    forks = sys.platform == "linux"
    for name in SHARED if forks else ():
        importlib.import_module(name)
    told = sys.stdin.buffer.readline()
    if not told:
        return  # nobody wants it any more
    request = Request(**json.loads(told))
    parts = {(_fork if forks else _spawn)(request, part): part for part in request.parts}
    running = list(parts)
    sys.stdout.write("started\n")
    sys.stdout.flush()
    threading.Thread(target=_kill_at_end_of_stdin, args=(running,), daemon=True).start()
    codes: dict[str, int] = {}
    while running:
        pid, status = os.waitpid(running[0] if not forks else -1, 0)
        running.remove(pid)
        codes[parts[pid]] = os.waitstatus_to_exitcode(status)
        fresh = Path(request.work) / (CODES + ".new")
        fresh.write_text(json.dumps(codes))
        fresh.replace(fresh.with_name(CODES))
    os._exit(0)  # the thread still reads


if __name__ == "__main__":
    main()
