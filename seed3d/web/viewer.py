"""GLB files for the page's interactive view: textured, plain, hulls."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.conventions import R_GLTF_WORLD
from seed3d.types import Asset, Mesh

MODES = ("Textured", "Plain", "Hulls", "Wireframe")
"""What the page offers; the wireframe is the plain model drawn by its edges."""


def view_files(asset: Asset) -> dict[str, bytes]:
    """Return name to GLB: plain.glb (grey) and hulls.glb (one colour per hull).

    The textured one is the asset's own file. glTF frame: Y up [m].
    """
    from seed3d.texture.preview import GREY, hull_color

    hulls = [(h, hull_color(i)) for i, h in enumerate(asset.collision.hulls)]
    return {
        "plain.glb": _glb([(asset.mesh, GREY.base_color)], smooth=True),
        "hulls.glb": _glb(hulls, smooth=False),
    }


def _glb(parts: list[tuple[Mesh, tuple[float, float, float]]], smooth: bool) -> bytes:
    import trimesh
    from trimesh.exchange import gltf

    from seed3d.conventions import srgb_to_linear
    from seed3d.render.normals import corner_normals

    scene = trimesh.Scene()
    for index, (mesh, color) in enumerate(parts):
        points = mesh.vertices[mesh.faces].reshape(-1, 3) @ R_GLTF_WORLD.T
        normals: Any = None
        if smooth:
            normals = corner_normals(mesh).reshape(-1, 3) @ R_GLTF_WORLD.T
        linear = srgb_to_linear(np.array(color))
        material = trimesh.visual.material.PBRMaterial(
            baseColorFactor=np.rint(255 * np.append(linear, 1.0)).astype(np.uint8),
            metallicFactor=0.0, roughnessFactor=0.7,
        )  # fmt: skip
        body = trimesh.Trimesh(
            points, np.arange(len(points)).reshape(-1, 3), vertex_normals=normals, process=False,
            visual=trimesh.visual.TextureVisuals(material=material),
        )  # fmt: skip
        scene.add_geometry(body, node_name=f"part_{index}", geom_name=f"part_{index}")
    return gltf.export_glb(scene, include_normals=True)
