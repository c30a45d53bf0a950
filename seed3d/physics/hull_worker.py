"""Runs CoACD or V-HACD in a process of its own: ``python -m seed3d.physics.hull_worker``.

Reads one request from stdin, writes one reply to stdout, both as .npz bytes. Both are C++ that
can crash or run for minutes on bad input, and CoACD's library can't share a process with open3d's;
the parent sets the time limit and survives both.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any, Literal

import numpy as np

Method = Literal["coacd", "vhacd"]
"""coacd: Wei et al. 2022 (coacd.run_coacd); vhacd: Mamou, V-HACD 4 (vhacdx.compute_vhacd)."""


def pack_request(
    vertices: np.ndarray, faces: np.ndarray, options: dict[str, Any], method: Method = "coacd"
) -> bytes:
    """Return the request: a mesh (V, 3), (F, 3) and keyword arguments of the method."""
    buffer = io.BytesIO()
    words = np.array([method, json.dumps(options)])
    np.savez(buffer, vertices=vertices, faces=faces, words=words)
    return buffer.getvalue()


def unpack_reply(reply: bytes) -> list[np.ndarray]:
    """Return the parts' vertices, each (N, 3), in the method's order.

    Raises:
        ValueError: The reply is no .npz file (the worker ended early).
    """
    with np.load(io.BytesIO(reply)) as data:
        counts, points = data["counts"], data["points"]
    return np.split(points, np.cumsum(counts)[:-1]) if len(counts) else []


def _coacd(vertices: np.ndarray, faces: np.ndarray, options: dict[str, Any]) -> list[Any]:
    import coacd

    coacd.set_log_level("error")
    return coacd.run_coacd(coacd.Mesh(vertices, faces.astype(np.int32)), **options)


def _vhacd(vertices: np.ndarray, faces: np.ndarray, options: dict[str, Any]) -> list[Any]:
    import vhacdx

    rows = np.column_stack([np.full(len(faces), 3), faces])  # each face after its count of corners
    return vhacdx.compute_vhacd(vertices, rows.astype(np.uint32).ravel(), **options)


def main() -> None:
    """Decompose the mesh on stdin and write the parts to stdout."""
    # The libraries print to file descriptor 1; the reply needs it clean.
    reply_fd = os.dup(1)
    os.dup2(2, 1)
    with np.load(io.BytesIO(sys.stdin.buffer.read())) as data:
        vertices, faces = data["vertices"], data["faces"]
        method, options = (str(word) for word in data["words"])
    run = {"coacd": _coacd, "vhacd": _vhacd}[method]
    found = run(vertices, faces, json.loads(options))
    parts = [np.asarray(points, np.float64) for points, _ in found]
    buffer = io.BytesIO()
    points = np.concatenate(parts) if parts else np.zeros((0, 3))
    np.savez(buffer, counts=np.array([len(p) for p in parts], np.int64), points=points)
    with os.fdopen(reply_fd, "wb") as out:
        out.write(buffer.getvalue())


if __name__ == "__main__":
    main()
