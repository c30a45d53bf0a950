"""GLB to FileModel, with trimesh."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from seed3d.conventions import R_WORLD_GLTF
from seed3d.errors import InputError
from seed3d.types import Mesh
from seed3d.verify.model import FileModel, merged


def read_glb(path: Path) -> FileModel:
    """Read a GLB and turn it from glTF's axes (Y up) to the world frame.

    Raises:
        InputError: The file can't be parsed or holds no triangle.
    """
    import trimesh

    try:
        scene = trimesh.load_scene(path, process=False)
    except (ValueError, KeyError, IndexError, TypeError, OSError, NotImplementedError) as error:
        raise InputError(f"{path.name}: not a readable GLB ({error})") from error
    parts, textures = [], 0
    for node in sorted(scene.graph.nodes_geometry):
        pose, key = scene.graph[node]
        geometry = scene.geometry[key]
        if not isinstance(geometry, trimesh.Trimesh) or not len(geometry.faces):
            continue
        points = geometry.vertices @ pose[:3, :3].T + pose[:3, 3]
        vertices = np.asarray(points, np.float64) @ R_WORLD_GLTF.T
        parts.append(Mesh(vertices, np.asarray(geometry.faces, np.int64)))
        material = getattr(geometry.visual, "material", None)
        textures += getattr(material, "baseColorTexture", None) is not None
    if not parts:
        raise InputError(f"{path.name}: got no triangle mesh; wanted at least one")
    return FileModel(
        format="glb",
        path=path,
        name=path.stem,
        visual=merged(parts),
        base=path.parent,
        textures=textures,
    )
