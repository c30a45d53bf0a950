"""Batches on Ray and on fsspec URLs. Oracle: the bytes of a run on this machine."""

import json
import os
from pathlib import Path

import pytest
from test_batch import FAST, HERE, box, log, tree

from seed3d.batch import run_batch
from seed3d.errors import ConfigError


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    for i in range(6):
        box(folder / f"box{i}.stl", (0.1 + 0.02 * i, 0.3, 0.1))
    (folder / "torn.glb").write_bytes(b"glTF")
    return folder


@pytest.fixture(scope="module")
def here(shapes, tmp_path_factory):
    """Run in this process; Ray's workers find the makers of these tests."""
    os.environ["PYTHONPATH"] = str(HERE)
    out = tmp_path_factory.mktemp("here") / "out"
    run_batch(shapes, out, options=FAST, workers=0, maker="test_batch:quick")
    return tree(out)


@pytest.fixture
def ray(monkeypatch):
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "0")  # a full machine is no test failure
    ray = pytest.importorskip("ray")
    yield ray
    ray.shutdown()


def test_local_ray_gives_the_same_bytes(ray, shapes, here, tmp_path):
    run_batch(shapes, tmp_path / "out", options=FAST, ray="local", workers=2,
              maker="test_batch:quick")  # fmt: skip
    assert tree(tmp_path / "out") == here
    assert not ray.is_initialized(), "the cluster that the batch started is gone"


def test_a_node_that_dies_in_the_middle_loses_nothing(ray, shapes, here, tmp_path):
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        second = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        nodes = {n["NodeID"] for n in ray.nodes()}
        ended = []

        def report(item, outcome):
            ended.append(outcome.get("node"))
            if second.node_id in ended and len(cluster.list_all_nodes()) == 2:
                cluster.remove_node(second, allow_graceful=False)

        result = run_batch(shapes, tmp_path / "out", options=FAST, ray="auto", report=report,
                           maker="test_batch:unhurried")  # fmt: skip
        assert len(nodes) == 2 and len(cluster.list_all_nodes()) == 1, "a node was killed"
        assert len(result.rows) == 7 and len(ended) == 7
        assert tree(tmp_path / "out") == here
        assert {x["node"] for x in log(tmp_path / "out")} == nodes, "both had worked"
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_no_cluster_at_the_address_is_told(ray, shapes, tmp_path):
    with pytest.raises(ConfigError, match="ray start --head"):
        run_batch(shapes, tmp_path / "out", options=FAST, ray="auto")


def test_items_from_and_to_memory_url(shapes, here):
    fsspec = pytest.importorskip("fsspec")
    fs = fsspec.filesystem("memory")
    for path in shapes.iterdir():
        fs.pipe_file(f"/bucket/in/{path.name}", path.read_bytes())
    for _ in range(2):
        result = run_batch("memory://bucket/in", "memory://bucket/out", options=FAST, workers=0,
                           maker="test_batch:quick")  # fmt: skip
    assert result.made == 0
    found = {f.removeprefix("/bucket/out/"): fs.cat_file(f) for f in fs.find("/bucket/out")}
    import hashlib

    assert {k: hashlib.sha256(v).hexdigest() for k, v in found.items()} == here


def test_models_on_a_url_bring_their_textures_and_workers_read_file_urls(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    fs = fsspec.filesystem("memory")
    import trimesh
    from PIL import Image

    folder = tmp_path / "in"
    folder.mkdir()
    mesh = trimesh.creation.box((0.2, 0.2, 0.2))
    uv = [[i % 2, i // 2 % 2] for i in range(len(mesh.vertices))]
    red = trimesh.visual.texture.SimpleMaterial(image=Image.new("RGB", (8, 8), (200, 30, 30)))
    mesh.visual = trimesh.visual.TextureVisuals(uv=uv, material=red)
    mesh.export(folder / "crate.obj")
    for path in folder.iterdir():
        fs.pipe_file(f"/models/{path.name}", path.read_bytes())
    common = {"options": FAST, "maker": "test_batch:quick"}
    run_batch("memory://models", f"file://{tmp_path}/far", workers=0, **common)
    os.environ["PYTHONPATH"] = str(HERE)
    run_batch(f"file://{folder}", f"file://{tmp_path}/near", workers=1, **common)
    assert tree(tmp_path / "far") == tree(tmp_path / "near")
    texture = Image.open(tmp_path / "far/crate/textures/base_color.png").convert("RGB")
    reds = [n for n, c in texture.getcolors(4096) if c[0] > 4 * c[1]]  # times the factor Kd
    assert sum(reds) > 100, "the texture came along"


def test_memory_urls_are_refused_where_workers_cannot_see_them(shapes):
    with pytest.raises(ConfigError, match="--workers 0"):
        run_batch(shapes, "memory://out", options=FAST, workers=2)


def test_fingerprint_follows_a_model_s_texture(tmp_path):
    from seed3d.batch import plan_items
    from seed3d.batch.record import fingerprint

    (tmp_path / "a.obj").write_text("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd wood.png\n")
    (tmp_path / "wood.png").write_bytes(b"brown")
    (tmp_path / "list.jsonl").write_text(json.dumps({"path": "a.obj"}))
    item = plan_items([tmp_path / "list.jsonl"])[0]
    first = fingerprint(item, Path(item.source))
    (tmp_path / "other.png").write_bytes(b"not named")
    assert fingerprint(item, Path(item.source)) == first
    (tmp_path / "wood.png").write_bytes(b"grey")
    assert fingerprint(item, Path(item.source)) != first
