"""GLB files as an independent loader (Open3D's, on Assimp) sees them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seed3d.config import TextureConfig
from seed3d.export.glb import glb_files
from seed3d.texture.texels import chart_texels, color_map, flat_normal_map, packed_map
from seed3d.texture.unwrap import unwrap_by_projection
from seed3d.types import Asset, Collision, Mesh, PBRMaps, RigidBody


@pytest.fixture(scope="module")
def asset() -> Asset:
    """A block of 0.4 x 0.3 x 0.2 m whose materials follow the place on it."""
    import trimesh

    mesh = Mesh.from_trimesh(trimesh.creation.box((0.4, 0.3, 0.2)).subdivide())
    mesh = mesh.moved(1.0, np.array([0.0, 0.0, 0.1]))
    atlas = unwrap_by_projection(mesh, TextureConfig(size=128))
    texels = chart_texels(mesh, atlas, 128)
    color, x = place_color(texels.position), texels.position[:, 0]
    maps = PBRMaps(
        color_map(color, texels.covered),
        packed_map(0.5 + x, (x > 0).astype(np.float32), texels.covered),
        flat_normal_map(128),
    )
    body = RigidBody(1.0, np.zeros(3), np.eye(3), 0.5, 0.0, 0.0, 0.1)
    return Asset("block", mesh, atlas, maps, Collision((mesh,), 1.0), body)


def place_color(position: np.ndarray) -> np.ndarray:
    """Linear colour (N, 3) of places on the block, link frame."""
    return (0.1 + position * np.array([1.0, 1.0, 2.0]) + np.array([0.2, 0.15, 0.0])).astype(
        np.float32
    )


def test_glb_has_the_right_materials_in_the_right_places(asset, tmp_path):
    import open3d as o3d

    from seed3d.conventions import R_WORLD_GLTF, srgb_to_linear

    path = tmp_path / "block.glb"
    path.write_bytes(glb_files(asset)["block.glb"])
    model = o3d.io.read_triangle_model(str(path))
    assert len(model.meshes) == len(model.materials) == 1
    material, mesh = model.materials[0], model.meshes[0].mesh
    assert material.shader == "defaultLit"
    assert (material.base_metallic, material.base_roughness) == (1.0, 1.0)
    assert np.allclose(np.asarray(material.base_color), 1.0)
    image = np.asarray(material.albedo_img)
    assert (image == asset.maps.base_color).all()
    packed = np.asarray(material.roughness_img)
    assert (packed == asset.maps.metallic_roughness).all()  # G roughness, B metallic
    assert (np.asarray(material.metallic_img) == asset.maps.metallic_roughness).all()

    # Each triangle's middle: the colour the loader finds there is that of the place.
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.triangles)] @ R_WORLD_GLTF.T
    middle = corners.mean(axis=1)
    assert np.ptp(corners.reshape(-1, 3), axis=0) == pytest.approx([0.4, 0.3, 0.2], abs=1e-6)
    uv = np.asarray(mesh.triangle_uvs).reshape(-1, 3, 2).mean(axis=1)
    uv[:, 1] = 1.0 - uv[:, 1]  # Open3D turns glTF's v up
    column, row = (np.floor(uv * 128).astype(int) % 128).T
    found = srgb_to_linear(image[row, column] / 255.0)
    assert np.abs(found - place_color(middle)).max() < 0.02
    clear = np.abs(middle[:, 0]) > 0.02
    assert ((packed[row, column, 2] > 127) == (middle[:, 0] > 0))[clear].all()


def test_only_a_normal_map_with_relief_is_written(asset, tmp_path):
    import open3d as o3d

    relief = asset.maps.normal.copy()
    relief[:64] = (160, 128, 251)
    for normal in (asset.maps.normal, relief):
        path = tmp_path / "block.glb"
        changed = replace(asset, maps=replace(asset.maps, normal=normal))
        path.write_bytes(glb_files(changed)["block.glb"])
        image = o3d.io.read_triangle_model(str(path)).materials[0].normal_img
        assert (np.asarray(image) == relief).all() if normal is relief else image is None


def test_a_flat_normal_map_turns_no_normal_whatever_the_tangents():
    """128 of 255 is 0.2 degrees off the axis: less than any tangent frame could show."""
    value = flat_normal_map(4)[0, 0] / 255.0 * 2.0 - 1.0
    tilt = np.degrees(np.arccos(value[2] / np.linalg.norm(value)))
    assert tilt < 0.4
