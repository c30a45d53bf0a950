"""The data engine: resumable building, twins found, packed sets that come back."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import trimesh
from click.testing import CliRunner

from seed3d.cli import main
from seed3d.data.duplicates import near_duplicates, write_duplicates
from seed3d.data.pack import pack, unpack
from seed3d.data.prepare import furniture_jobs, prepare, procedural_jobs, statistics
from seed3d.data.split import split_of
from seed3d.data.variants import axis_factors, stretched
from seed3d.errors import InputError
from seed3d.train.data import load_objects
from seed3d.types import Mesh, Surface, SurfaceMaterial


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set") / "objects"
    jobs = procedural_jobs(1, only=("mug", "plate", "tin"))
    counts = prepare(jobs, folder)
    assert counts == {"made": 3}
    return folder


def test_building_goes_on_where_it_stopped(records):
    lost = records / "procedural_plate_00000.npz"
    before = {p.name: p.read_bytes() for p in records.glob("*.npz")}
    lost.unlink()
    counts = prepare(procedural_jobs(1, only=("mug", "plate", "tin")), records)
    assert counts == {"made": 1, "kept": 2}
    after = {p.name: np.load(p)["tsdf"] for p in records.glob("*.npz")}
    assert set(after) == set(before)
    table = statistics(records)
    assert table["objects"] == 3 and table["photos"] == 6
    assert table["category"] == {"mug": 1, "plate": 1, "tin": 1}


def test_one_bad_object_does_not_stop_the_rest(tmp_path, monkeypatch):
    from seed3d.data import prepare as module
    from seed3d.data.build import Recipe
    from seed3d.errors import StageError

    def fail():
        raise StageError("a flat card")

    bad = Recipe("bad", "bad", 1, fail)
    assert module.build_object(bad, tmp_path) == "StageError: a flat card"
    assert not list(tmp_path.iterdir())


def test_unknown_categories_are_refused_by_name():
    with pytest.raises(InputError, match="mug"):
        procedural_jobs(1, only=("mugg",))
    result = CliRunner().invoke(main, ["data", "build", "--procedural", "1", "--only", "mugg"])
    assert result.exit_code == 2 and "Did you mean 'mug'" in result.output


def test_a_packed_set_comes_back(records, tmp_path):
    size = pack(records, tmp_path / "set.zip")
    assert unpack(tmp_path / "set.zip", tmp_path / "objects") == 3
    assert size < 0.6 * sum(p.stat().st_size for p in records.glob("*.npz"))
    for path in records.glob("*.npz"):
        old, new = np.load(path), np.load(tmp_path / "objects" / path.name)
        for name in ("tsdf", "mask", "cameras"):
            assert np.array_equal(old[name], new[name])
        assert json.loads(old["attributes"].tobytes()) == json.loads(new["attributes"].tobytes())
        assert np.abs(old["rgb"].astype(int) - new["rgb"]).mean() < 3
    with pytest.raises(InputError, match="packed"):
        unpack(tmp_path / "no.zip", tmp_path)


def write(folder, name, split, grid, pooled):
    """One record and its features with a photo and its mirror image."""
    row = {"split": split, "category": "x"}
    attributes = np.frombuffer(json.dumps(row).encode(), np.uint8)
    for part in ("objects", "features"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    np.savez(folder / "objects" / f"{name}.npz", tsdf=grid)
    maps = {"mid": (2, 112, 14, 14), "deep": (2, 320, 7, 7), "local": (2, 4, 56, 56)}
    np.savez(
        folder / "features" / f"{name}.npz", attributes=attributes,
        pooled=np.stack([pooled, pooled]).astype(np.float16), cameras=np.ones((2, 6), np.float32),
        **{k: np.zeros(shape, np.float16) for k, shape in maps.items()},
    )  # fmt: skip


def test_twins_of_held_out_objects_are_found_and_left_out(tmp_path):
    axis = np.linspace(-1, 1, 32)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    lump = np.where((np.hypot(x - 0.1, y - 0.3) < 0.4) & (np.abs(z) < 0.6), -127, 127)
    ball = np.where(x**2 + y**2 + z**2 < 0.5, -127, 127)
    lump, ball = lump.astype(np.int8), ball.astype(np.int8)
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=1280), rng.normal(size=1280)
    write(tmp_path, "held", "test", lump, one)
    write(tmp_path, "mirrored_twin", "train", lump[:, ::-1].copy(), one + 0.05 * other)
    write(tmp_path, "same_shape_other_looks", "train", lump, other)
    write(tmp_path, "same_looks_other_shape", "train", ball, one)
    rows = near_duplicates(tmp_path / "features")
    assert [(r["train"], r["held_out"]) for r in rows] == [("mirrored_twin", "held")]
    assert rows[0]["iou"] > 0.95 and rows[0]["cosine"] > 0.99
    write_duplicates(tmp_path / "features", rows)
    kept = load_objects(tmp_path / "features", ("train",))
    assert kept.keys == ["same_looks_other_shape", "same_shape_other_looks"]
    both = load_objects(tmp_path / "features", ("train",), mirrored=True)
    assert torch.equal(both.tsdf[3], both.tsdf[2].flip(1)) and both.keys[3].endswith("~")


def test_more_objects_for_training_alone(tmp_path):
    jobs = procedural_jobs(2, 100, only=("mug", "plate", "tin", "bowl"), training_only=True)
    every = procedural_jobs(2, 100, only=("mug", "plate", "tin", "bowl"))
    splits = {job.arguments: split_of(job.recipe().group) for job in every}
    assert [j.arguments for j in jobs] == [a for a, split in splits.items() if split == "train"]
    assert 0 < len(jobs) < len(every) == 8
    grid, looks = np.full((32,) * 3, -127, np.int8), np.random.default_rng(0).normal(size=(2, 1280))
    write(tmp_path / "a", "held", "test", grid, looks[0])
    write(tmp_path / "b", "twin", "train", grid, looks[0])
    write(tmp_path / "b", "other", "train", grid, looks[1])
    ours, more = tmp_path / "a" / "features", tmp_path / "b" / "features"
    rows = near_duplicates(more, ours)
    assert [(r["train"], r["held_out"]) for r in rows] == [("twin", "held")]
    write_duplicates(more, rows)
    both = load_objects(ours, ("train", "test"), True, more=[more])
    assert both.keys == ["held", "held~", "other", "other~"]
    keys = [both.keys[i] for i in both.owner]
    assert torch.bincount(both.owner).min() >= 1
    for photo, key in zip(both.photos.pooled.float(), keys, strict=True):
        assert torch.allclose(photo, torch.tensor(looks[int("other" in key)]).float(), rtol=1e-2)


def test_stretched_variants_can_be_left_out(tmp_path):
    grid = np.full((32,) * 3, -127, np.int8)
    for key in ("chair", "chair+1"):
        write(tmp_path, key, "train", grid, np.ones(1280))
    features = tmp_path / "features"
    assert load_objects(features, ("train",)).keys == ["chair+1", "chair"]
    assert load_objects(features, ("train",), variants=False).keys == ["chair"]


def test_a_group_is_never_split():
    assert len({split_of("anna/chair") for _ in range(5)}) == 1


def test_variants_keep_the_volume_and_the_normals():
    box = trimesh.creation.icosphere(subdivisions=3)
    surface = Surface(
        Mesh(np.asarray(box.vertices), np.asarray(box.faces)),
        np.zeros((len(box.faces), 3, 2), np.float32), np.zeros(len(box.faces), np.int64),
        (SurfaceMaterial(),), normals=np.asarray(box.vertices),
    )  # fmt: skip
    factors = axis_factors("Scopia_001", 1)
    assert np.prod(factors) == pytest.approx(1.0)
    assert not np.allclose(factors, axis_factors("Scopia_001", 2))
    assert np.array_equal(factors, axis_factors("Scopia_001", 1))
    assert np.array_equal(axis_factors("Scopia_001", 0), np.ones(3))
    found = stretched(surface, factors)
    mesh = found.mesh.to_trimesh()
    assert mesh.volume == pytest.approx(box.volume)
    assert np.allclose(found.mesh.extents, 2 * factors, rtol=1e-2)
    # An ellipsoid's normal is the gradient of (x/a)^2 + (y/b)^2 + (z/c)^2.
    gradient = found.mesh.vertices / factors**2
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    assert np.allclose(found.normals, gradient, atol=1e-6)


def test_only_training_models_get_variants(monkeypatch):
    groups = [f"maker {i}" for i in range(40)]
    entries = [SimpleNamespace(key=f"key{i}", group=g) for i, g in enumerate(groups)]
    monkeypatch.setattr("seed3d.data.furniture.catalogue", lambda folder: entries)
    jobs = furniture_jobs("libraries", "cache", views=6, variants=2)
    training = [e for e in entries if split_of(e.group) == "train"]
    assert 0 < len(training) < len(entries)
    assert len(jobs) == len(entries) + 2 * len(training)
    assert all(split_of(job.arguments[0].group) == "train" for job in jobs[len(entries) :])
