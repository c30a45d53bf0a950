"""Meshes and textures that URDF and MJCF share."""

from __future__ import annotations

import numpy as np

from seed3d.export.encode import float32, index_rows, png, rows
from seed3d.export.visual import visual_mesh
from seed3d.types import Asset, Mesh

VISUAL = "meshes/visual.obj"
TEXTURES = ("base_color", "metallic_roughness", "normal")


def hull_path(index: int) -> str:
    """Return the path of a hull inside the asset's folder."""
    return f"meshes/hull_{index:03d}.obj"


def texture_path(kind: str) -> str:
    """Return the path of a texture (one of `TEXTURES`) inside the asset's folder."""
    return f"textures/{kind}.png"


def obj_files(asset: Asset) -> dict[str, bytes]:
    """Return visual.obj with its material and one OBJ per hull. Link frame, metres, Z up.

    Vertices of the visual mesh keep their order and stay shared at UV seams: `f v/vt/vn` has
    one index per attribute, so the file is a closed mesh and the exact atlas at once.
    """
    files = {VISUAL: _visual(asset), "meshes/visual.mtl": _material(asset)}
    for i, hull in enumerate(asset.collision.hulls):
        if asset.collision.primitive(i) is None:
            files[hull_path(i)] = _hull(hull)
    return files


def texture_files(asset: Asset) -> dict[str, bytes]:
    """Return the three maps as PNG."""
    return {texture_path(kind): png(getattr(asset.maps, kind)) for kind in TEXTURES}


def _visual(asset: Asset) -> bytes:
    mesh = visual_mesh(asset)
    lines = ["mtllib visual.mtl", f"o {asset.name}"]
    lines += rows("v", mesh.points)
    lines += rows("vt", mesh.uv)
    lines += rows("vn", np.round(mesh.normals.astype(np.float64), 6) + 0.0)
    lines += [f"usemtl {asset.name}_material"]
    corners = np.stack([mesh.faces, mesh.uv_faces, mesh.normal_faces], axis=2) + 1  # (F, 3, 3)
    lines += index_rows("f" + " %d/%d/%d" * 3, corners.reshape(-1, 9))
    return _text(lines)


def _material(asset: Asset) -> bytes:
    # map_Pr and map_Pm read one channel in most viewers and would get the packed map wrong.
    return _text(
        [
            f"newmtl {asset.name}_material",
            "Ka 0 0 0",
            "Kd 1 1 1",
            "Ks 0 0 0",
            "d 1",
            "illum 1",
            f"map_Kd ../{texture_path('base_color')}",
            f"norm ../{texture_path('normal')}",
        ]
    )


def _hull(hull: Mesh) -> bytes:
    return _text(rows("v", float32(hull.vertices)) + index_rows("f %d %d %d", hull.faces + 1))


def _text(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode("ascii")
