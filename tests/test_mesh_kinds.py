"""Every kind of mesh file that users bring; oracles are closed forms of hand-made files."""

from __future__ import annotations

import base64
import json
import struct
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from test_mesh import SMALL, glb_join, glb_parts, png

from seed3d.config import Config, MeshConfig
from seed3d.errors import InputError, StageError
from seed3d.geometry.tsdf import canonical
from seed3d.mesh import measure
from seed3d.mesh.load import load_surface
from seed3d.mesh.polygon import triangulate
from seed3d.mesh.solid import make_solid
from seed3d.physics.size import measured_size
from seed3d.types import Mesh

BOX = (1.0, 2.0, 3.0)


def box_glb(**nodes: object) -> bytes:
    return trimesh.Scene(trimesh.creation.box(BOX)).export(file_type="glb")


def area(surface) -> float:
    p = surface.mesh.vertices[surface.mesh.faces]
    return float(0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1).sum())


# --- packed glTF --------------------------------------------------------------------------------


def gltf_file(header: dict, blob: bytes) -> bytes:
    blob += b"\0" * (-len(blob) % 4)
    header["buffers"] = [{"byteLength": len(blob)}]
    return glb_join(header, struct.pack("<I4s", len(blob), b"BIN\0") + blob)


def scene_header(accessors: list, views: list, **more: object) -> dict:
    primitive = {"attributes": {"POSITION": 0}, "indices": 1, **more}
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "accessors": accessors,
        "bufferViews": views,
    }


def box_arrays() -> tuple[np.ndarray, np.ndarray]:
    box = trimesh.creation.box(BOX)
    return np.array(box.vertices, np.float32), np.array(box.faces, np.uint32)


def test_draco_geometry_is_read() -> None:
    import DracoPy

    points, faces = box_arrays()
    blob = DracoPy.encode(points, faces, quantization_bits=16, preserve_order=True)
    identifier = DracoPy.decode(blob).attributes[0]["unique_id"]
    extension = {"bufferView": 0, "attributes": {"POSITION": identifier}}
    header = scene_header(
        [
            {"componentType": 5126, "count": 8, "type": "VEC3"},
            {"componentType": 5125, "count": 36, "type": "SCALAR"},
        ],
        [{"buffer": 0, "byteOffset": 0, "byteLength": len(blob)}],
        extensions={"KHR_draco_mesh_compression": extension},
    )
    header["extensionsUsed"] = header["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    surface = load_surface(gltf_file(header, blob), ".glb")
    # glTF (x, y, z) is the world's (y, z, x).
    assert np.allclose(surface.mesh.extents, (3, 1, 2), atol=1e-3)
    assert surface.mesh.to_trimesh().volume == pytest.approx(6.0, rel=1e-3)


def test_damaged_draco_is_an_input_error() -> None:
    extension = {"bufferView": 0, "attributes": {"POSITION": 0}}
    header = scene_header(
        [
            {"componentType": 5126, "count": 8, "type": "VEC3"},
            {"componentType": 5125, "count": 36, "type": "SCALAR"},
        ],
        [{"buffer": 0, "byteOffset": 0, "byteLength": 40}],
        extensions={"KHR_draco_mesh_compression": extension},
    )
    header["extensionsUsed"] = ["KHR_draco_mesh_compression"]
    with pytest.raises(InputError):
        load_surface(gltf_file(header, b"DRACO" + bytes(35)), ".glb")


def test_without_the_package_compressed_files_say_what_to_install() -> None:
    code = (
        "import sys; sys.modules['DracoPy'] = None; sys.modules['meshoptimizer'] = None\n"
        "from seed3d.errors import MissingDependencyError\n"
        "from seed3d.mesh import gltf_check, gltf_unpack\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda n: None if n == 'DracoPy' else find(n)\n"
        "for call in (lambda: gltf_check.check_gltf({'extensionsUsed': "
        "['KHR_draco_mesh_compression']}, b''), "
        "lambda: gltf_unpack.decode_meshopt(b'', 1, 4, 'ATTRIBUTES', 'NONE')):\n"
        "    try: call()\n"
        "    except MissingDependencyError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.count("pip install 'seed3d[compressed]'") == 2


def meshopt_box(filter_: str = "NONE") -> bytes:
    """Quantised positions (int16 normalised, node scale 3) and indices as meshopt streams."""
    import meshoptimizer as mo

    points, faces = box_arrays()
    short = np.zeros((8, 4), np.int16)
    short[:, :3] = np.round(points / 3.0 * 32767)
    vertices = mo.encode_vertex_buffer(short, 8, 8)
    indices = mo.encode_index_buffer(faces.reshape(-1), 36, 8)
    blob, views = bytearray(), []
    for data, count, stride, mode in (
        (vertices, 8, 8, "ATTRIBUTES"),
        (indices, 36, 4, "TRIANGLES"),
    ):
        blob += b"\0" * (-len(blob) % 4)
        extension = {
            "buffer": 0, "byteOffset": len(blob), "byteLength": len(bytes(data)),
            "byteStride": stride, "count": count, "mode": mode, "filter": "NONE",
        }  # fmt: skip
        views.append(
            {"buffer": 1, "byteLength": count * stride,
             "extensions": {"EXT_meshopt_compression": extension}}
        )  # fmt: skip
        blob += bytes(data)
    views[0]["byteStride"], views[0]["extensions"]["EXT_meshopt_compression"]["filter"] = 8, filter_
    header = scene_header(
        [
            {
                "bufferView": 0,
                "componentType": 5122,
                "normalized": True,
                "count": 8,
                "type": "VEC3",
            },
            {"bufferView": 1, "componentType": 5125, "count": 36, "type": "SCALAR"},
        ],
        views,
    )
    header["nodes"][0]["scale"] = [3, 3, 3]
    names = ["EXT_meshopt_compression", "KHR_mesh_quantization"]
    header["extensionsUsed"] = header["extensionsRequired"] = names
    data = gltf_file(header, bytes(blob))
    header, rest = glb_parts(data)
    header["buffers"].append({"byteLength": 208, "extensions": {"EXT_meshopt_compression": {
        "fallback": True}}})  # fmt: skip
    return glb_join(header, rest)


def test_meshopt_streams_and_quantised_positions_are_read() -> None:
    surface = load_surface(meshopt_box(), ".glb")
    assert np.allclose(surface.mesh.extents, (3, 1, 2), atol=3e-4)
    assert surface.mesh.to_trimesh().volume == pytest.approx(6.0, rel=1e-3)
    assert surface.fallbacks == ()


def test_damaged_meshopt_is_an_input_error() -> None:
    header, rest = glb_parts(meshopt_box())
    stream = header["bufferViews"][0]["extensions"]["EXT_meshopt_compression"]
    for change in ({"filter": "WRONG"}, {"count": 4000}, {"mode": "X"}, {"byteStride": 7},
                   {"count": 10**12}, {"byteLength": 3}):  # fmt: skip
        stream_before = dict(stream)
        stream.update(change)
        with pytest.raises(InputError):
            load_surface(glb_join(header, rest), ".glb")
        stream.update(stream_before)


def test_normalised_texture_coordinates_are_shares_of_one() -> None:
    points, faces = box_arrays()
    uv = np.tile(np.array([[64, 191]], np.uint8), (8, 1))
    uv = np.concatenate([uv, np.zeros((8, 2), np.uint8)], axis=1)  # stride 4
    blob = points.tobytes() + faces.tobytes() + uv.tobytes()
    header = scene_header(
        [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 36, "type": "SCALAR"},
            {
                "bufferView": 2,
                "componentType": 5121,
                "normalized": True,
                "count": 8,
                "type": "VEC2",
            },
        ],
        [
            {"buffer": 0, "byteOffset": 0, "byteLength": 96},
            {"buffer": 0, "byteOffset": 96, "byteLength": 144},
            {"buffer": 0, "byteOffset": 240, "byteLength": 32, "byteStride": 4},
        ],
        material=0,
    )
    header["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = 2
    image = "data:image/png;base64," + base64.b64encode(png((9, 8, 7))).decode()
    header["images"], header["textures"] = [{"uri": image}], [{"source": 0}]
    header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    surface = load_surface(gltf_file(header, blob), ".glb")
    # glTF counts v from the top.
    assert np.allclose(surface.corner_uv, (64 / 255, 1 - 191 / 255), atol=1e-6)
    assert (surface.materials[0].base_color_texture == (9, 8, 7)).all()


def test_sparse_accessor_moves_the_vertices_it_names() -> None:
    points, faces = box_arrays()
    moved = points[[0, 1]] * 2
    blob = points.tobytes() + faces.tobytes() + np.array([0, 1], "<u2").tobytes() + moved.tobytes()
    sparse = {
        "count": 2,
        "indices": {"bufferView": 2, "componentType": 5123},
        "values": {"bufferView": 3},
    }
    header = scene_header(
        [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "sparse": sparse},
            {"bufferView": 1, "componentType": 5125, "count": 36, "type": "SCALAR"},
        ],
        [
            {"buffer": 0, "byteOffset": a, "byteLength": b}
            for a, b in ((0, 96), (96, 144), (240, 4), (244, 24))
        ],
    )
    points[[0, 1]] = moved
    surface = load_surface(gltf_file(header, blob), ".glb")
    truth = trimesh.Trimesh(points, faces, process=False)
    assert area(surface) == pytest.approx(truth.area, rel=1e-5)


# --- placement, looks, sizes --------------------------------------------------------------------


def test_non_uniform_scales_of_nested_nodes_multiply() -> None:
    turn = trimesh.transformations.rotation_matrix(0.7, (1, 2, 3))
    outer, inner = np.diag([2.0, 1.0, 0.5, 1.0]), turn @ np.diag([1.0, 3.0, 1.0, 1.0])
    header, rest = glb_parts(box_glb())
    mesh_node = {"mesh": 0, "matrix": inner.T.ravel().tolist()}
    header["nodes"] = [{"children": [1], "matrix": outer.T.ravel().tolist()}, mesh_node]
    header["scenes"], header["scene"] = [{"nodes": [0]}], 0
    surface = load_surface(glb_join(header, rest), ".glb")
    assert surface.mesh.to_trimesh().volume == pytest.approx(6.0 * 1.0 * 3.0, rel=1e-5)
    points = trimesh.creation.box(BOX).vertices @ (outer @ inner)[:3, :3].T
    assert np.allclose(np.sort(surface.mesh.extents), np.sort(np.ptp(points, axis=0)), rtol=1e-5)
    p = surface.mesh.vertices[surface.mesh.faces]
    flat = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    along = np.einsum("fk,fck->fc", flat, surface.normals[surface.mesh.faces])
    assert along.min() > 0.99  # normals went with the shear


@pytest.mark.parametrize("folder_name", ["plain", "a b ü'&"])
def test_gltf_with_external_buffer_and_texture(tmp_path, folder_name) -> None:
    folder = tmp_path / folder_name
    folder.mkdir()
    header, rest = glb_parts(box_glb())
    (folder / "my data.bin").write_bytes(rest[8:])
    header["buffers"][0]["uri"] = "my%20data.bin"
    (folder / "wood.png").write_bytes(png((90, 60, 30)))
    header["images"], header["textures"] = [{"uri": "wood.png"}], [{"source": 0}]
    header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    header["meshes"][0]["primitives"][0]["material"] = 0
    path = folder / 'x <&> "y".gltf'
    path.write_text(json.dumps(header))
    surface = load_surface(path)
    assert surface.mesh.to_trimesh().volume == pytest.approx(6.0)
    assert (surface.materials[0].base_color_texture == (90, 60, 30)).all()
    (folder / "my data.bin").unlink()
    with pytest.raises(InputError):
        load_surface(path)


@pytest.mark.parametrize("encoding", ["ascii", "binary", "big"])
def test_stl_and_ply_ascii_binary_and_big_endian(encoding) -> None:
    box = trimesh.creation.box(BOX)
    if encoding == "big":
        head = (
            "ply\nformat binary_big_endian 1.0\nelement vertex 8\nproperty float x\n"
            "property float y\nproperty float z\nelement face 12\n"
            "property list uchar int vertex_indices\nend_header\n"
        )
        body = np.asarray(box.vertices, ">f4").tobytes()
        body += b"".join(b"\x03" + np.asarray(f, ">i4").tobytes() for f in box.faces)
        files = {"ply": head.encode() + body}
    elif encoding == "ascii":
        files = {
            "stl": box.export(file_type="stl_ascii").encode(),
            "ply": box.export(file_type="ply", encoding="ascii"),
        }
        assert b"facet normal" in files["stl"] and b"format ascii" in files["ply"]
    else:
        # A binary STL whose header starts with "solid", as some tools write it.
        stl = bytearray(box.export(file_type="stl"))
        stl[:80] = b"solid part".ljust(80)
        files = {"stl": bytes(stl), "ply": box.export(file_type="ply")}
    for kind, data in files.items():
        surface = load_surface(data, kind)
        assert np.allclose(surface.mesh.extents, BOX)
        assert surface.mesh.to_trimesh().area == pytest.approx(22.0)


def test_concave_polygons_cover_their_own_area() -> None:
    """An L-profile whose fan around the first corner would leave the polygon; area by hand."""
    profile = [(1, 1), (1, 3), (0, 3), (0, 0), (3, 0), (3, 1)]
    for turn in range(6):
        ring = profile[turn:] + profile[:turn]
        text = "".join(f"v {x} {y} 5\n" for x, y in ring) + "f 1 2 3 4 5 6\n"
        surface = load_surface(text.encode(), ".obj", up="z")
        assert area(surface) == pytest.approx(5.0)
        p = surface.mesh.vertices[surface.mesh.faces]
        up = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])[:, 2]
        assert (up > 0).all() and len(up) == 4
    # The same seen from behind and in other planes.
    for place in ((1, 0, 2), (0, 2, 1), (2, 1, 0)):
        corners = [tuple(np.array([x, y, 0.0])[list(place)]) for x, y in profile]
        p = np.array(corners)[triangulate(corners)]
        size = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
        assert size.sum() == pytest.approx(5.0)
    assert len(triangulate([(0, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0)])) == 2  # a bow tie


def test_material_names_with_xml_and_quotes(tmp_path) -> None:
    (tmp_path / "a.obj").write_text(
        'mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl <a> & "b"\nf 1 2 3\n'
        "usemtl ünï.cödé 2\nf 1 2 4\n", encoding="utf-8"
    )  # fmt: skip
    (tmp_path / "a.mtl").write_text(
        'newmtl <a> & "b"\nKd 1 0 0\nnewmtl ünï.cödé 2\nKd 0 1 0\n', encoding="utf-8"
    )
    surface = load_surface(tmp_path / "a.obj")
    colors = {m.name: m.base_color for m in surface.materials}
    assert colors['<a> & "b"'] == (1.0, 0.0, 0.0) and colors["ünï.cödé 2"] == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("kind", ["obj", "ply", "stl"])
def test_coordinates_that_are_no_numbers_are_refused_where_a_face_uses_them(kind, value) -> None:
    number = float(value)
    box = trimesh.creation.box(BOX)
    vertices = np.array(box.vertices)
    if kind == "obj":
        rows = [f"v {a} {b} {c}" for a, b, c in vertices]
        rows[3] = f"v 0 {value} 0"
        rows += [f"f {a} {b} {c}" for a, b, c in box.faces + 1]
        data = "\n".join(rows).encode()
    else:
        vertices[3, 1] = number
        data = trimesh.Trimesh(vertices, box.faces, process=False).export(file_type=kind)
    with pytest.raises(InputError, match="finite"):
        load_surface(data, kind)


def test_a_loose_vertex_that_is_no_number_does_not_matter() -> None:
    data = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan nan nan\nf 1 2 3\n"
    surface = load_surface(data, ".obj", up="z")
    mesh, _, _ = canonical(surface.mesh)
    assert np.isfinite(mesh.vertices[mesh.faces]).all()
    assert np.isfinite(make_solid(mesh, SMALL).mesh.vertices).all()


@pytest.mark.parametrize("size", [1e-4, 50.0, 1e-9, 1e6])
@pytest.mark.parametrize("away", [0.0, 30.0])
def test_tiny_huge_and_off_centre_boxes_keep_their_proportions(size, away) -> None:
    box = trimesh.creation.box(np.array(BOX) / 3.0 * size)
    box.apply_translation(np.array([10.0, 20.0, 30.0]) * size * away / 30.0)
    mesh, _, _ = canonical(Mesh.from_trimesh(box))
    solid = make_solid(mesh, SMALL)
    assert solid.fallbacks == ()
    assert measure.volume(solid.mesh) == pytest.approx(1.9**3 * (1 / 3) * (2 / 3), rel=1e-6)


def test_zero_area_and_repeated_faces_beside_a_box_change_nothing() -> None:
    box = trimesh.creation.box((1.9, 1.9, 1.9))
    middle = (box.vertices[box.faces[0, 0]] + box.vertices[box.faces[0, 1]]) / 2
    vertices = np.vstack([box.vertices, middle])
    needle = [[box.faces[0, 0], 8, box.faces[0, 1]], [2, 2, 5], [8, 8, 8]]
    faces = np.vstack([box.faces, needle, box.faces[:5], box.faces[:3, ::-1]])
    solid = make_solid(Mesh(vertices, faces), SMALL)
    assert measure.volume(solid.mesh) == pytest.approx(1.9**3, rel=1e-3)
    assert measure.is_closed(solid.mesh)


def test_a_sheet_that_crosses_itself_becomes_one_closed_body() -> None:
    cross = [trimesh.creation.box((1.9, 0.1, 1.0)), trimesh.creation.box((0.1, 1.9, 1.0))]
    solid = make_solid(Mesh.from_trimesh(trimesh.util.concatenate(cross)), SMALL)
    assert measure.volume(solid.mesh) == pytest.approx(2 * 0.19 - 0.01, rel=1e-6)
    eight = trimesh.creation.torus(0.7, 0.2)
    eight.vertices[:, 0] *= np.where(eight.vertices[:, 1] > 0, 1, -1)  # twisted through itself
    body = make_solid(Mesh.from_trimesh(eight), MeshConfig(resolution=64)).mesh
    assert measure.is_closed(body) and measure.is_manifold(body)


@pytest.mark.parametrize(("unit_m", "up"), [(1e-3, "z"), (0.0254, "y")])
def test_units_and_up_axis_reach_the_asset(tmp_path, unit_m, up) -> None:
    from seed3d.config import load_preset
    from seed3d.pipeline import simready

    path = tmp_path / "part.stl"
    sides = np.array([0.1, 0.2, 0.3]) / unit_m  # the file's x, y, z
    trimesh.creation.box(sides).export(path)
    config: Config = load_preset("smoke")
    asset = simready(path, config, up=up, unit_m=unit_m)
    wanted = (0.1, 0.2, 0.3) if up == "z" else (0.3, 0.1, 0.2)
    assert np.allclose(asset.mesh.extents, wanted, rtol=1e-5)
    assert asset.mesh.bounds[0, 2] == pytest.approx(0, abs=1e-9)
    assert str(unit_m) in asset.estimates["size_m"].note


@pytest.mark.parametrize("side", [1e-3, 300.0])
def test_a_size_that_no_unit_was_stated_for_must_be_plausible(tmp_path, side) -> None:
    from seed3d.config import load_preset
    from seed3d.pipeline import simready

    path = tmp_path / "box.stl"
    trimesh.creation.box((side, side / 2, side / 4)).export(path)
    config: Config = load_preset("smoke")
    with pytest.raises(StageError, match=r"no unit is stated.*--units"):
        simready(path, config)
    box = Mesh.from_trimesh(trimesh.load_mesh(path))
    found = measured_size(box, 0.1, path.name, config.physics)
    assert found.value == pytest.approx(0.1 * side)
    tall = replace(config, physics=replace(config.physics, height=0.5))
    assert simready(path, tall).mesh.extents[2] == pytest.approx(0.5)
