"""Native code that may crash or never end, in a process of its own with a limit on processor time."""

from __future__ import annotations

import importlib.util
import math
import signal
import subprocess
from collections.abc import Sequence

CLOCK_FACTOR = 10.0
"""The clock's limit over the processor time's: a busy machine must not change a result."""
_SIGXCPU = getattr(signal, "SIGXCPU", None)  # not on Windows, where only the clock counts


class ProcessTimeout(Exception):
    """The process was stopped at its limit; the message says which."""


def run_limited(
    command: Sequence[str], data: bytes, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a command on `data` and return what it wrote.

    Args:
        command: Program and arguments.
        data: For its standard input.
        seconds: Processor time it may take, rounded up to whole seconds where the system can
            limit that; by the clock it may take CLOCK_FACTOR times as long.

    Raises:
        ProcessTimeout: It ran into either limit.
    """
    clock = seconds * CLOCK_FACTOR
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        limit_cpu(math.ceil(seconds), process.pid)
        try:
            out, said = process.communicate(data, timeout=clock)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise ProcessTimeout(f"took longer than {clock:.3g} s by the clock") from error
    if _SIGXCPU is not None and process.returncode == -_SIGXCPU:
        raise ProcessTimeout(f"took longer than {math.ceil(seconds)} s of processor time")
    return subprocess.CompletedProcess(command, process.returncode, out, said)


def limit_cpu(seconds: int, pid: int = 0) -> None:
    """Let the system stop a process after `seconds` of processor time, where it can.

    Args:
        seconds: Processor time from the process's start.
        pid: The process; 0 is this one. Others can be limited on Linux only.
    """
    if importlib.util.find_spec("resource") is None:
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = seconds if hard == resource.RLIM_INFINITY else min(seconds, hard)
    if hasattr(resource, "prlimit"):
        resource.prlimit(pid, resource.RLIMIT_CPU, (soft, hard))
    elif pid == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def children_cpu_s() -> float:
    """Return the processor time of all ended child processes and of theirs [s]; not on Windows."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
