"""Asset to GLB: glTF 2.0, Y up, textures embedded."""

from __future__ import annotations

import numpy as np

from seed3d.conventions import R_GLTF_WORLD
from seed3d.export.encode import float32
from seed3d.export.visual import visual_mesh
from seed3d.types import Asset

FLAT_NORMAL = np.array([128, 128, 255], np.uint8)
"""Texel of a normal map without relief."""


def glb_files(asset: Asset) -> dict[str, bytes]:
    """Return <name>.glb. Visual only: glTF has no ratified physics.

    A flat normal map is left out.
    """
    import trimesh
    from PIL import Image
    from trimesh.exchange import gltf

    points, normals, uv, faces = _split_vertices(asset)
    maps = asset.maps
    # A flat map says nothing, and makes a reader generate tangents that the file doesn't have.
    flat = bool((maps.normal == FLAT_NORMAL).all())
    material = trimesh.visual.material.PBRMaterial(
        name=f"{asset.name}_material",
        baseColorTexture=Image.fromarray(maps.base_color),
        metallicRoughnessTexture=Image.fromarray(maps.metallic_roughness),
        normalTexture=None if flat else Image.fromarray(maps.normal),
        metallicFactor=1.0,
        roughnessFactor=1.0,
    )
    mesh = trimesh.Trimesh(
        points @ R_GLTF_WORLD.T,
        faces,
        vertex_normals=normals @ R_GLTF_WORLD.T,
        visual=trimesh.visual.TextureVisuals(uv=uv, material=material),
        process=False,
    )
    scene = trimesh.Scene()
    scene.add_geometry(mesh, node_name=asset.name, geom_name=asset.name)
    return {f"{asset.name}.glb": gltf.export_glb(scene, include_normals=True)}


def _split_vertices(asset: Asset) -> tuple[np.ndarray, ...]:
    """One vertex per (UV, normal) pair: positions, normals (W, 3), UVs (W, 2), faces (F, 3)."""
    mesh = visual_mesh(asset)
    pair = mesh.uv_faces.astype(np.int64) * len(mesh.normals) + mesh.normal_faces  # (F, 3)
    unique, first, inverse = np.unique(pair.ravel(), return_index=True, return_inverse=True)
    points = mesh.points[mesh.faces.ravel()[first]]
    normals = mesh.normals[unique % len(mesh.normals)]
    uv = mesh.uv[unique // len(mesh.normals)]
    return float32(points), normals, uv, inverse.reshape(-1, 3)
