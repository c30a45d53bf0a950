"""A process that does jobs: one JSON line in, JSON lines of progress and the result out.

`python -m seed3d.web.worker`; the server kills it to cancel.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from seed3d.errors import Seed3DError


class Reporter:
    """Tells the server which stage runs (`pipeline.Progress`), and the outcome."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def say(self, **message: Any) -> None:
        """Write one message."""
        self.stream.write(json.dumps(message) + "\n")
        self.stream.flush()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Run a stage."""
        self.say(stage=stage)
        yield


def main() -> None:
    """Do jobs until the input ends."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever native libraries print must not get into the messages
    limit_memory(float(os.environ.get("SEED3D_WEB_MEMORY_GB", "0")))
    from seed3d.web.tasks import TASKS

    reporter = Reporter(channel)
    reporter.say(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = TASKS[request["task"]](reporter, **request["arguments"])
        except Seed3DError as error:
            reporter.say(error=str(error))
            continue
        except MemoryError:
            reporter.say(error="this needs more memory than a job may use. Try a smaller file")
            continue
        reporter.say(result=result)


def limit_memory(gigabytes: float) -> None:
    """Let the system refuse memory beyond a limit, where it can (Linux)."""
    if gigabytes > 0 and sys.platform == "linux":
        import resource

        most = int(gigabytes * 2**30)
        resource.setrlimit(
            resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )


if __name__ == "__main__":
    main()
