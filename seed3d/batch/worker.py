"""A worker process: items come in as lines on standard input, outcomes go out on standard output.

It holds one loaded model for all its items. When its input closes it ends at once with
everything it started, so that nothing outlives a killed batch. An error that isn't a
`Seed3DError` ends it too: the batch takes a new process and tells the error as the item's cause.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import IO


def main() -> None:
    """Serve until standard input closes; the argument is the lock file that it shares."""
    from seed3d.batch.lock import share

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not get among the answers
    jobs: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin, jobs), daemon=True).start()
    lock = share(Path(sys.argv[1])) if len(sys.argv) > 1 else None  # noqa: F841, held to the end
    from seed3d.batch.make import process
    from seed3d.batch.plan import Item

    while True:
        job = json.loads(jobs.get())
        item = Item.from_plain(job["item"])
        outcome = process(item, job["out"], job["retry_failed"], job["maker"])
        print(json.dumps(outcome), file=answers, flush=True)


def _listen(source: IO[str], jobs: queue.Queue[str]) -> None:
    for line in source:
        jobs.put(line)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main()
