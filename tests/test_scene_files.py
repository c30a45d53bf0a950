"""Scene files against the scene: GLB read as plain JSON, USD by Pixar's own validators."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest
import trimesh

import seed3d
from seed3d.render.lighting import DirectionalLight, Lighting
from seed3d.scene import Scene
from seed3d.scene.files import scene_files
from seed3d.scene.overview import view_camera

VIEWS = {
    "front": ((2.0, 0.4, 1.0), (0.0, 0.1, 0.5), 35.0),
    "left_low": ((-0.3, 1.5, 0.1), (0.0, 0.0, 0.4), 60.0),
    "above": ((0.1, 0.2, 3.0), (0.1, 0.2, 0.0), 45.0),
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """Two bricks, one fixed and turned, a table, walls, three cameras, two lights."""
    path = tmp_path_factory.mktemp("files") / "brick.stl"
    trimesh.creation.box((0.1, 0.06, 0.04)).export(path)
    brick = seed3d.simready(path, seed3d.load_preset("smoke"))
    made = Scene("room", seed=5)
    made.add_block("table", (0.8, 0.6, 0.1), (0.0, 0.0, 0.5), yaw_deg=20)
    made.add_walls(3.0, 4.0, 1.0)
    made.add(brick, on="table", at=(0.1, 0.05), yaw_deg=40)
    turn = np.array((0.7, 0.1, -0.5, 0.3))
    turn = (turn / np.linalg.norm(turn)).tolist()
    made.add(brick, position=(0.4, -0.7, 0.9), quaternion=turn, fixed=True)
    for name, (position, target, fov) in VIEWS.items():
        made.add_camera(name, position, target, fov)
    made.lighting = Lighting(
        (
            DirectionalLight(0.7, 0.9, (0.6, 0.5, 0.3)),
            DirectionalLight(-2.0, 0.2, (0.1, 0.1, 0.2), shadows=False),
        ),
        sky=(0.3, 0.35, 0.4),
    )
    return made


@pytest.fixture(scope="module")
def folder(scene, tmp_path_factory):
    """The scene's files."""
    return scene.save(tmp_path_factory.mktemp("saved") / "room", overview_size=0)


@pytest.fixture(scope="module")
def document(folder):
    """The JSON of scene.glb."""
    data = (folder / "scene.glb").read_bytes()
    magic, version, total = struct.unpack_from("<4sII", data)
    length, kind = struct.unpack_from("<I4s", data, 12)
    assert (magic, version, total, kind) == (b"glTF", 2, len(data), b"JSON")
    return json.loads(data[20 : 20 + length])


def to_world(point):
    """GLB (Y up, Z forward, X left) to the scene's frame (Z up, X forward, Y left)."""
    x, y, z = np.moveaxis(np.asarray(point, float), -1, 0)
    return np.stack([z, x, y], axis=-1)


def local_matrix(node):
    """glTF 2.0, section 3.5.3: M = T R S, or the matrix in columns."""
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    out = np.eye(4)
    out[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    out[:3, :3] *= np.array(node.get("scale", (1, 1, 1)))
    out[:3, 3] = node.get("translation", (0, 0, 0))
    return out


def placed(document):
    """Name to (node, matrix in the file's world)."""
    out = {}

    def visit(index, parent):
        node = document["nodes"][index]
        matrix = parent @ local_matrix(node)
        out[node.get("name")] = (node, matrix)
        for child in node.get("children", ()):
            visit(child, matrix)

    for index in document["scenes"][document.get("scene", 0)]["nodes"]:
        visit(index, np.eye(4))
    return out


def test_objects_of_the_glb_stand_where_the_scene_says(scene, document):
    nodes = placed(document)
    link = np.array([[0.0, 0, 0], [0.05, 0.02, 0.03], [-0.01, 0.03, 0.0]])
    in_file = link[:, [1, 2, 0]]
    for item in (*scene.items.values(), *scene.blocks.values()):
        node, matrix = nodes[item.name]
        assert "mesh" in node
        found = to_world(in_file @ matrix[:3, :3].T + matrix[:3, 3])
        assert found == pytest.approx(item.pose.apply(link), abs=1e-6)  # metres
    meshes = {nodes[name][0]["mesh"] for name in scene.items}
    assert len(meshes) == 1  # both bricks share one


def test_cameras_of_the_glb_see_what_the_scene_s_see(scene, document):
    nodes = placed(document)
    assert [c["name"] for c in document["cameras"]] == sorted(VIEWS)
    points = np.array([[0.0, 0.0, 0.5], [0.3, -0.2, 0.6], [-0.2, 0.1, 0.3], [0.1, 0.15, 0.55]])
    for name, view in scene.cameras.items():
        node, matrix = nodes[name]
        camera = document["cameras"][node["camera"]]
        lens = camera["perspective"]
        assert (camera["type"], lens["aspectRatio"]) == ("perspective", 1.0)
        assert lens["yfov"] == pytest.approx(math.radians(VIEWS[name][2]))
        assert to_world(matrix[:3, 3]) == pytest.approx(view.position, abs=1e-8)
        ahead = np.array(view.target) - np.array(view.position)
        ahead /= np.linalg.norm(ahead)
        assert to_world(-matrix[:3, 2]) == pytest.approx(ahead, abs=1e-7)
        assert to_world(matrix[:3, 0])[2] == pytest.approx(0.0, abs=1e-7)  # no roll
        assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1.0)
        seen = (np.linalg.inv(matrix) @ np.c_[points[:, [1, 2, 0]], np.ones(4)].T).T
        uv = seen[:, :2] / -seen[:, 2:3] / math.tan(lens["yfov"] / 2)
        own, depth = view_camera(view).project(points - np.array(view.target))
        assert -seen[:, 2] == pytest.approx(depth, abs=1e-6)
        assert uv * (1, -1) == pytest.approx(own, abs=1e-6)  # v is down in the crop


def test_lights_of_the_glb_shine_from_where_the_scene_s_do(scene, document):
    nodes = placed(document)
    assert "KHR_lights_punctual" in document["extensionsUsed"]
    lights = document["extensions"]["KHR_lights_punctual"]["lights"]
    assert len(lights) == 2
    for index, light in enumerate(scene.lighting.lights):
        node, matrix = nodes[f"light_{index}"]
        told = lights[node["extensions"]["KHR_lights_punctual"]["light"]]
        assert told["type"] == "directional"
        assert max(told["color"]) <= 1.0
        # A matte white face sends back E / pi.
        radiance = np.array(told["color"]) * told["intensity"] / math.pi
        assert radiance == pytest.approx(light.color)
        assert to_world(-matrix[:3, 2]) == pytest.approx(-light.direction, abs=1e-7)
    extras = document["scenes"][0]["extras"]["lighting"]
    assert extras["sky"] == [0.3, 0.35, 0.4]


def test_another_reader_takes_the_glb(scene, folder):
    loaded = trimesh.load_scene(folder / "scene.glb")
    place = to_world(loaded.camera_transform[:3, 3])  # it keeps one of them
    view = min(scene.cameras.values(), key=lambda v: math.dist(v.position, place))
    assert place == pytest.approx(view.position, abs=1e-6)
    assert math.radians(loaded.camera.fov[1]) == pytest.approx(view.fov_rad)
    bare = Scene("bare")
    bare.add_block("table", (1, 1, 0.1), (0, 0, 0.05))
    bare.lighting = Lighting(())
    data = scene_files(bare, ("glb",), overview_size=0)["scene.glb"]
    tree = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    assert "cameras" not in tree and "extensionsUsed" not in tree  # empty lists are not allowed


def test_cameras_and_lights_of_the_other_files_agree(scene, folder):
    import mujoco
    from pxr import Gf, Usd, UsdGeom

    stage = Usd.Stage.Open(str(folder / "scene.usda"))
    model = mujoco.MjModel.from_xml_path(str(folder / "scene.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for name, view in scene.cameras.items():
        camera = UsdGeom.Camera(stage.GetPrimAtPath(f"/World/cameras/{name}")).GetCamera()
        frustum = camera.frustum
        ahead = np.array(view.target) - np.array(view.position)
        ahead /= np.linalg.norm(ahead)
        assert tuple(frustum.GetPosition()) == pytest.approx(view.position, abs=1e-9)
        assert tuple(frustum.ComputeViewDirection()) == pytest.approx(ahead, abs=1e-9)
        fov = camera.GetFieldOfView(Gf.Camera.FOVVertical)
        assert fov == pytest.approx(math.degrees(view.fov_rad), rel=1e-5)
        index = model.camera(name).id
        turn = data.cam_xmat[index].reshape(3, 3)
        assert data.cam_xpos[index] == pytest.approx(view.position, abs=1e-9)
        assert -turn[:, 2] == pytest.approx(ahead, abs=1e-6)
        assert turn[:, 1] == pytest.approx(tuple(frustum.ComputeUpVector()), abs=1e-6)


def test_usd_stage_passes_every_validator(folder):
    from pxr import Usd, UsdUtils, UsdValidation

    stage = Usd.Stage.Open(str(folder / "scene.usda"))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 10
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    assert [f"{e.GetName()}: {e.GetMessage()}" for e in errors] == []
    stage.ClearDefaultPrim()  # they do look
    broken = UsdValidation.ValidationContext(validators).Validate(stage)
    assert [e.GetName() for e in broken] == ["MissingDefaultPrim"]
    layers, _, unresolved = UsdUtils.ComputeAllDependencies(str(folder / "scene.usda"))
    assert unresolved == [] and len(layers) >= 2
