"""Process that runs xatlas: npz on standard input, npz on standard output.

xatlas ends the whole process on some closed meshes (segmentation fault), so it runs alone.
Run by path; it imports nothing of the package.
"""

from __future__ import annotations

import io
import sys

import numpy as np

LARGEST_CHART = 1.0 / 16.0
"""Share of the surface one chart may cover: chart growth costs far more than linear time."""


def unwrap(
    vertices: np.ndarray, faces: np.ndarray, size: int, padding: int
) -> dict[str, np.ndarray]:
    """Return vertex (N,), faces (F, 3) and uv (N, 2) of the atlas of one mesh."""
    import xatlas

    corners = vertices[faces]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = float(np.linalg.norm(sides, axis=1).sum()) / 2.0

    chart = xatlas.ChartOptions()
    chart.max_iterations = 1
    chart.max_chart_area = LARGEST_CHART * area
    pack = xatlas.PackOptions()
    pack.resolution = size
    pack.padding = padding
    pack.bilinear = True
    pack.bruteForce = False
    pack.create_image = False

    atlas = xatlas.Atlas()
    atlas.add_mesh(vertices.astype(np.float32), faces.astype(np.uint32))
    atlas.generate(chart, pack)
    vertex, atlas_faces, uv = atlas[0]
    return {"vertex": vertex, "faces": atlas_faces, "uv": uv}


def main() -> None:
    """Read vertices, faces, size and padding; write the atlas."""
    with np.load(io.BytesIO(sys.stdin.buffer.read())) as job:
        atlas = unwrap(job["vertices"], job["faces"], int(job["size"]), int(job["padding"]))
    out = io.BytesIO()
    np.savez(out, vertex=atlas["vertex"], faces=atlas["faces"], uv=atlas["uv"])
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main()
