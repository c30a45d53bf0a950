"""How many threads sum numbers: another number rounds differently, and hulls are cut elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field


@dataclass
class _Shared:
    """What the blocks open in this process share."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    blocks: int = 0
    blas: ExitStack = field(default_factory=ExitStack)
    """Gives BLAS its threads back: it has one number for the whole process."""
    torch: int = 0
    """Number for every thread of the program whose block ends: PyTorch has one for each."""


_shared = _Shared()


@contextmanager
def fixed_threads(count: int) -> Iterator[None]:
    """Run PyTorch and BLAS on `count` threads, and on as many as before afterwards.

    So results don't depend on the machine's cores. Blocks may be open in several threads of a
    program at once; they should ask for the same number.

    Args:
        count: Number of threads; 0 leaves everything as it is.
    """
    if not count:
        yield
        return
    import scipy.linalg  # noqa: F401  (its BLAS can be told only once it's loaded)
    from threadpoolctl import threadpool_limits

    # Whoever needs it has imported it by now; others needn't wait a second for it.
    torch = sys.modules.get("torch")
    # Asking makes the number this thread's own; else it would take over one set elsewhere later.
    own = torch.get_num_threads() if torch else 0
    with _shared.lock:
        if not _shared.blocks:
            _shared.blas.enter_context(threadpool_limits(count, user_api="blas"))
            _shared.torch = 0
        _shared.blocks += 1
        _shared.torch = _shared.torch or own
    try:
        if torch:
            torch.set_num_threads(count)
        yield
    finally:
        with _shared.lock:
            _shared.blocks -= 1
            if torch:
                torch.set_num_threads(_shared.torch)
            if not _shared.blocks:
                _shared.blas.close()
