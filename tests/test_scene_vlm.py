"""What stands on what, told by a fake model: closed-form stacks, every bad answer, the report."""

from __future__ import annotations

import base64
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from PIL import Image
from test_vlm import Server

import seed3d
from seed3d.chat import Refused
from seed3d.config import VlmConfig
from seed3d.conventions import camera_rotation
from seed3d.errors import ConfigError, StageError
from seed3d.scene.files import scene_files
from seed3d.scene.from_photo import scene_from_photo
from seed3d.scene.parts import Pose
from seed3d.scene.photo_layout import Seen, estimate_layout, focal_from_fov
from seed3d.scene.vlm_layout import ask_layout
from seed3d.types import Camera

SIZE, FOV_DEG, PITCH_DEG, HEIGHT_M = (640, 480), 45.0, 30.0, 0.6
PITCH, YAW = math.radians(PITCH_DEG), 0.3
BRICK = (0.1, 0.06, 0.04)
TRUTH = ((-0.9, -0.1, 1.8, 0.0), (-0.92, -0.12, 0.9, 0.04 * 1.8), (-1.2, 0.25, 1.2, 0.0))
"""Of three bricks: x, y, scale and height of the foot, camera over the origin; 2nd on the 1st."""
ON = (None, 0, None)
GIVEN = [{"number": 1, "name": "book", "on": 0}, {"number": 2, "name": "tea  cup", "on": 1},
         {"number": 3, "name": "box", "on": 0}]  # fmt: skip


@pytest.fixture
def server():
    with Server() as fake:
        yield fake


@pytest.fixture(scope="module")
def brick(tmp_path_factory):
    path = tmp_path_factory.mktemp("vlm") / "brick.stl"
    trimesh.creation.box(BRICK).export(path)
    return seed3d.simready(path, seed3d.load_preset("smoke"))


def link_corners(shape=BRICK):
    """Of a box that stands on z = 0."""
    box = trimesh.creation.box(shape)
    box.apply_translation((0, 0, shape[2] / 2))
    return np.array(box.vertices)


def view(x, y, scale, z, shape=BRICK):
    """Azimuth and elevation of the camera seen from a brick, and its box in the picture."""
    points = Pose.upright(x, y, z, YAW).apply(scale * link_corners(shape))
    points = (points - np.array([0, 0, HEIGHT_M])) @ camera_rotation(0.0, PITCH).T
    uv = focal() * points[:, :2] / points[:, 2:] + np.array(SIZE) / 2
    middle = z + scale * shape[2] / 2
    azimuth = math.atan2(-y, -x) - YAW
    elevation = math.atan2(HEIGHT_M - middle, math.hypot(x, y))
    return azimuth, elevation, tuple(float(v) for v in (*uv.min(axis=0), *uv.max(axis=0)))


def seen_as(viewed, shape):
    """What the layout starts from."""
    return Seen(link_corners(shape), *viewed)


def focal():
    return focal_from_fov(FOV_DEG, *SIZE)


def picture():
    """Three flat frames on white where the bricks are seen, and their masks."""
    rgb = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)
    masks = []
    for row, color in zip(TRUTH, ((160, 60, 40), (40, 90, 160), (60, 130, 60)), strict=True):
        left, top, right, bottom = (round(v) for v in view(*row)[2])
        mask = np.zeros(SIZE[::-1], np.uint8)
        mask[top:bottom, left:right] = 255
        rgb[mask > 0] = color
        masks.append(mask)
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "PNG")
    return buffer.getvalue(), rgb, masks


def boxes():
    return [view(*row)[2] for row in TRUTH]


def test_a_stack_is_recovered_only_with_what_was_told():
    seen = [seen_as(view(*row), BRICK) for row in TRUTH]
    layout = estimate_layout(seen, SIZE, focal(), PITCH, ON)
    for found, (x, y, scale, z) in zip(layout.objects, TRUTH, strict=True):
        assert np.array([found.x, found.y, found.z]) * HEIGHT_M == pytest.approx(
            (x, y, z), abs=3e-3
        )
        assert found.scale * HEIGHT_M == pytest.approx(scale, rel=0.01)
    flat = estimate_layout(seen, SIZE, focal(), PITCH)
    assert flat.objects[1].scale > 1.1 * layout.objects[1].scale
    assert flat.objects[2] == layout.objects[2]
    tall = (*BRICK[:2], 0.4)  # times 1.8: higher than the camera
    high = seen_as(view(*TRUTH[0], tall), tall)
    with pytest.raises(StageError, match="object 2: it can't stand on object 1"):
        estimate_layout([high, seen[1]], SIZE, focal(), PITCH, (None, 0))


def test_the_question_shows_numbered_frames_and_the_answer_comes_back(server):
    _, rgb, _ = picture()
    server.says({"objects": GIVEN[::-1]})
    told = ask_layout(rgb, boxes(), VlmConfig(url=server.url, model="eye", image_size=640))
    assert told.on == ON and told.names == ("book", "tea cup", "box")
    assert told.boxes == tuple(boxes())
    text, image = server.requests[0]["messages"][0]["content"]
    left, top, right, bottom = (
        round(1000 * v / s) for v, s in zip(boxes()[1], SIZE * 2, strict=True)
    )
    assert f"2: {left}, {top}, {right}, {bottom}" in text["text"]
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["objects"]["items"]["required"] == ["number", "name", "on"]
    data = base64.b64decode(image["image_url"]["url"].split(",", 1)[1])
    sent = np.asarray(Image.open(io.BytesIO(data))).astype(int)
    assert sent.shape == rgb.shape
    for box in boxes():  # a red frame round each
        x, y = round((box[0] + box[2]) / 2), round(box[3])
        assert sent[y - 1 : y + 2, x, 0].max() > 180
        assert sent[y - 1 : y + 2, x, 1].min() < 120


FOUND = [{"box": [100, 500, 300, 700], "name": "tray", "on": 0},
         {"box": [150, 420, 250, 600], "name": "cup", "on": 1}]  # fmt: skip


def test_a_model_finds_the_objects_itself(server):
    server.says({"objects": FOUND})
    told = ask_layout(np.zeros((200, 400, 3), np.uint8), (), VlmConfig(url=server.url))
    assert told.boxes == ((40.0, 100.0, 120.0, 140.0), (60.0, 84.0, 100.0, 120.0))
    assert told.on == (None, 0)
    turned = told.ordered([1, 0])
    assert turned.on == (1, None) and turned.names == ("cup", "tray")


def changed(index, **values):
    rows = [dict(row) for row in GIVEN]
    rows[index].update(values)
    return {"objects": rows}


def found(index, **values):
    rows = [dict(row) for row in FOUND]
    rows[index].update(values)
    return {"objects": rows}


@pytest.mark.parametrize(("given", "answer", "words"), [
    (True, "no JSON", "isn't JSON"),
    (True, [1], "wanted ['objects']"),
    (True, {"objects": GIVEN, "more": 1}, "wanted ['objects']"),
    (True, {"objects": {}}, "a list of 1 to 40"),
    (True, {"objects": []}, "a list of 1 to 40"),
    (True, {"objects": GIVEN[:2]}, "wanted each of 1 to 3 once"),
    (True, changed(0, number=2), "wanted each of 1 to 3 once"),
    (True, changed(0, number="1"), "wanted each of 1 to 3 once"),
    (True, changed(0, size=3), "object 1 of the answer has"),
    (True, changed(1, on=4), "object 2 stands on 4"),
    (True, changed(1, on=2), "object 2 stands on 2"),
    (True, changed(1, on=True), "object 2 stands on True"),
    (True, changed(0, on=2), "would stand on itself"),
    (True, {"objects": [GIVEN[0] | {"on": 2}, GIVEN[1] | {"on": 0}, GIVEN[2]]}, "foot is lower"),
    (True, changed(2, on=1), "can't stand on 1"),
    (True, changed(0, name=""), "wanted a word"),
    (True, changed(0, name="a\x07b"), "wanted a word"),
    (False, found(0, box=[1, 2, 3]), "wanted left, top, right, bottom"),
    (False, found(0, box=[0, 0, 1001, 500]), "wanted left, top, right, bottom"),
    (False, found(0, box=[300, 500, 100, 700]), "wanted left, top, right, bottom"),
    (False, found(0, box=[100, 500, 104, 700]), "wanted left, top, right, bottom"),
    (False, found(1, box=[101, 500, 300, 699]), "the same box"),
    (False, found(1, box=[150, 100, 250, 300]), "above it, not on it"),
    (False, {"objects": FOUND * 21}, "a list of 1 to 40"),
])  # fmt: skip
def test_a_bad_answer_is_refused_with_the_reason(server, given, answer, words):
    server.says(answer)
    rgb = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    with pytest.raises(Refused) as error:
        ask_layout(rgb, boxes() if given else (), VlmConfig(url=server.url))
    assert words in str(error.value)


@pytest.fixture
def makes_bricks(brick, monkeypatch):
    """Each object becomes a brick that was seen from where the true one was."""

    def make(data, config, name, progress, mask):
        columns = np.flatnonzero((mask >= 128).any(axis=0)).mean()
        near = min(TRUTH, key=lambda row: abs(np.mean(view(*row)[2][::2]) - columns))
        azimuth, elevation, _ = view(*near)
        camera = Camera(azimuth, elevation, 4.0, 2.0)
        return replace(brick, name=name, camera=camera)

    monkeypatch.setattr("seed3d.pipeline.generate", make)


def scene_of(server, **options):
    data, _, masks = picture()
    config = VlmConfig(url=server.url, model="eye")
    return scene_from_photo(
        data, config=seed3d.load_preset("smoke"), fov_deg=FOV_DEG, pitch_deg=PITCH_DEG,
        camera_height_m=HEIGHT_M, layout_vlm=config, name="desk",
        **({"masks": masks} if options.get("masks") else {}),
    )  # fmt: skip


def check_stack(scene, names):
    """By name in the picture: the objects stand as they truly do."""
    items = {told["name"]: scene.items[told["object"]] for told in scene.told_layout["objects"]}
    start = np.array(items["book"].pose.position[:2]) - TRUTH[0][:2]
    for name, (x, y, scale, z) in zip(names, TRUTH, strict=True):
        item = items[name]
        assert np.array(item.pose.position[:2]) - start == pytest.approx((x, y), abs=0.01)
        assert item.pose.position[2] == pytest.approx(z, abs=2e-3)
        size = scene.assets[item.asset].mesh.extents.max()
        assert size == pytest.approx(scale * max(BRICK), rel=0.02)
    gaps = scene.check(("mujoco",), 0.1)["engines"]["mujoco"]
    assert gaps["penetration_start_mm"] < 1.0 and gaps["fell_through"] == []


def test_a_told_stack_stands_in_the_scene_and_in_its_report(server, makes_bricks):
    order = sorted(range(3), key=lambda i: np.mean(boxes()[i][::2]))  # left to right, as masks
    place = {old + 1: new + 1 for new, old in enumerate(order)}
    rows = [{**r, "number": place[r["number"]], "on": place.get(r["on"], 0)} for r in GIVEN]
    server.says({"objects": rows})
    scene = scene_of(server, masks=True)
    check_stack(scene, ["book", "tea cup", "box"])
    assert any("told by a vision-language model" in note for note in scene.notes)
    report = json.loads(scene_files(scene, ("mjcf",), overview_size=0)["report.json"])
    told = report["told_layout"]
    assert told["model"] == "eye"
    cup = next(row for row in told["objects"] if row["name"] == "tea cup")
    book = next(row for row in told["objects"] if row["name"] == "book")
    assert cup["on"] == book["object"] and book["on"] == "ground"


def test_without_masks_the_model_s_boxes_find_the_objects(server, makes_bricks):
    _, _, masks = picture()
    rows = []
    for row, box in zip(GIVEN, boxes(), strict=True):
        told = [round(1000 * v / s) for v, s in zip(box, SIZE * 2, strict=True)]
        rows.append({"box": told, "name": row["name"], "on": row["on"]})
    server.says({"objects": rows})
    scene = scene_of(server)
    assert {row["name"] for row in scene.told_layout["objects"]} == {"book", "tea cup", "box"}
    assert len(scene.items) == len(masks)


def test_refusals_are_told_and_never_silent(server, makes_bricks, monkeypatch):
    server.says(changed(1, on=7))
    scene = scene_of(server, masks=True)
    assert all(i.pose.position[2] < 2e-3 for i in scene.items.values())
    assert "stands on 7" in scene.told_layout["refused"]
    assert scene.notes[-1] == scene.told_layout["refused"]
    server.status = 500
    with pytest.raises(StageError, match=r"answered 500.*give --masks or --boxes"):
        scene_of(server)
    data, _, masks = picture()
    with pytest.raises(ConfigError, match="http"):
        scene_from_photo(data, masks=masks, layout_vlm=VlmConfig(url="ftp://x"))


def test_the_command_wants_an_endpoint(tmp_path):
    from click.testing import CliRunner

    from seed3d.cli import main

    (tmp_path / "photo.png").write_bytes(picture()[0])
    arguments = ["scene", "--from-image", str(tmp_path / "photo.png"), "--vlm-layout", "-o"]
    done = CliRunner().invoke(main, [*arguments, str(tmp_path / "out")])
    assert done.exit_code == 2 and "--vlm URL" in done.output
