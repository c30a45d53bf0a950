"""Runs CoACD in a process of its own: ``python -m seed3d.physics.coacd_worker``.

Reads one request from stdin, writes one reply to stdout, both as .npz bytes. CoACD is C++ that
can crash or run for minutes on bad input, and its library can't share a process with open3d's;
the parent sets the time limit and survives both.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

import numpy as np


def pack_request(vertices: np.ndarray, faces: np.ndarray, options: dict[str, Any]) -> bytes:
    """Return the request: a mesh (V, 3), (F, 3) and keyword arguments of coacd.run_coacd."""
    buffer = io.BytesIO()
    np.savez(buffer, vertices=vertices, faces=faces, options=np.array(json.dumps(options)))
    return buffer.getvalue()


def unpack_reply(reply: bytes) -> list[np.ndarray]:
    """Return the parts' vertices, each (N, 3), in CoACD's order.

    Raises:
        ValueError: The reply is no .npz file (the worker ended early).
    """
    with np.load(io.BytesIO(reply)) as data:
        counts, points = data["counts"], data["points"]
    return np.split(points, np.cumsum(counts)[:-1]) if len(counts) else []


def main() -> None:
    """Decompose the mesh on stdin and write the parts to stdout."""
    # The library prints to file descriptor 1; the reply needs it clean.
    reply_fd = os.dup(1)
    os.dup2(2, 1)
    import coacd

    with np.load(io.BytesIO(sys.stdin.buffer.read())) as data:
        mesh = coacd.Mesh(data["vertices"], data["faces"].astype(np.int32))
        options = json.loads(str(data["options"]))
    coacd.set_log_level("error")
    parts = [np.asarray(vertices, np.float64) for vertices, _ in coacd.run_coacd(mesh, **options)]
    buffer = io.BytesIO()
    points = np.concatenate(parts) if parts else np.zeros((0, 3))
    np.savez(buffer, counts=np.array([len(p) for p in parts], np.int64), points=points)
    with os.fdopen(reply_fd, "wb") as out:
        out.write(buffer.getvalue())


if __name__ == "__main__":
    main()
