"""Scene to GLB: one mesh per asset, one node per instance."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.conventions import R_GLTF_WORLD
from seed3d.export.glb import glb_files
from seed3d.scene.glb_views import add_views
from seed3d.scene.parts import Pose

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene


def glb_scene(scene: Scene) -> bytes:
    """Return scene.glb: Y up, textures embedded, with cameras and lights (`glb_views`).

    Visual only: glTF has no ratified physics.
    """
    import trimesh
    from trimesh.exchange import gltf

    out = trimesh.Scene()
    nodes: dict[str, list[tuple[str, np.ndarray]]] = {}
    for item in scene.items.values():
        nodes.setdefault(item.asset, []).append((item.name, _gltf(item.pose)))
    for key, placed in nodes.items():
        asset = scene.assets[key]
        data = io.BytesIO(glb_files(asset)[f"{asset.name}.glb"])
        loaded: Any = trimesh.load_scene(data, file_type="glb", process=False)
        (mesh,) = loaded.geometry.values()
        for index, (name, matrix) in enumerate(placed):
            if index == 0:
                out.add_geometry(mesh, node_name=name, geom_name=key, transform=matrix)
            else:
                out.graph.update(frame_to=name, matrix=matrix, geometry=key)
    for block in scene.blocks.values():
        box = trimesh.creation.box(_swapped(block.size_m))
        rgba = [*(round(255 * c) for c in block.color), 255]
        box.visual = trimesh.visual.ColorVisuals(box, face_colors=rgba)
        out.add_geometry(
            box, node_name=block.name, geom_name=block.name, transform=_gltf(block.pose)
        )
    if not out.geometry:
        from seed3d.errors import ExportError

        raise ExportError(f"{scene.name}: got nothing to show; add an asset or a block")
    return gltf.export_glb(
        out, include_normals=True, tree_postprocessor=lambda tree: add_views(tree, scene)
    )


def _gltf(pose: Pose) -> np.ndarray:
    turn = np.eye(4)
    turn[:3, :3] = R_GLTF_WORLD
    return turn @ pose.matrix() @ turn.T


def _swapped(size: tuple[float, float, float]) -> np.ndarray:
    return np.abs(R_GLTF_WORLD @ np.array(size))
