"""Limits of worker processes: processor time counts, waiting doesn't (until the clock's limit)."""

import sys
import time

import pytest

from seed3d.processes import ProcessTimeout, run_limited


def test_output_and_exit_code_come_back():
    code = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d * 2); sys.exit(3)"
    done = run_limited([sys.executable, "-c", code], b"ab" * 100_000, 10)
    assert done.stdout == b"ab" * 200_000
    assert done.returncode == 3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prlimit is Linux's")
def test_endless_computing_is_stopped_by_processor_time():
    with pytest.raises(ProcessTimeout, match="longer than 1 s of processor time"):
        run_limited([sys.executable, "-c", "while True: pass"], b"", 1)


def test_endless_waiting_is_stopped_by_the_clock():
    start = time.monotonic()
    with pytest.raises(ProcessTimeout, match="longer than 2 s by the clock"):
        run_limited([sys.executable, "-c", "import time; time.sleep(60)"], b"", 0.2)
    assert time.monotonic() - start < 30


def test_a_crash_is_a_negative_exit_code():
    done = run_limited([sys.executable, "-c", "import os; os.abort()"], b"", 10)
    assert done.returncode == -6
