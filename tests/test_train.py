"""Training: a killed run that resumes equals one that was never stopped; broken batches are skipped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from seed3d.data.split import TEST_PERCENT, VAL_PERCENT, split_of
from seed3d.errors import CheckpointError
from seed3d.geometry.photo import PhotoFeatures
from seed3d.train.data import Objects
from seed3d.train.loop import TrainConfig, learning_rate, load_state, save_state, train
from seed3d.train.tasks import hull_densities, varied

CONFIG = TrainConfig(
    steps=60, batch=8, learning_rate=0.02, warmup=5, evaluate_every=30, checkpoint_seconds=0.0
)


class Line:
    """Fit y = 2 x - 1; the loss is known to fall to 0."""

    def __init__(self, poison=()):
        torch.manual_seed(0)
        self.model = torch.nn.Linear(1, 1)
        self.poison, self.calls = set(poison), 0

    def loss(self, batch, generator):
        self.calls += 1
        x = torch.randn(batch, 1, generator=generator)
        loss = (self.model(x) - (2 * x - 1)).square().mean()
        if self.calls in self.poison:
            loss = loss * float("nan")
        return loss, {}

    def evaluate(self, model):
        return {"weight": float(model.weight)}


def rows(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_it_learns_and_evaluates(tmp_path):
    model = train(Line(), TrainConfig(**{**CONFIG.__dict__, "steps": 400, "ema": 0.9}), tmp_path)
    assert float(model.weight) == pytest.approx(2.0, abs=0.1)
    assert float(model.bias) == pytest.approx(-1.0, abs=0.1)
    evals = [row["eval"]["weight"] for row in rows(tmp_path) if "eval" in row]
    assert len(evals) >= 13 and abs(evals[-1] - 2) < abs(evals[0] - 2)


def test_a_killed_run_goes_on_to_the_same_weights(tmp_path):
    """A real process, a real SIGKILL at a random moment, the same command again."""
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, time\nfrom pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_train import Line, CONFIG, train\n"
        "import torch\n"
        "task = Line()\n"
        "loss = task.loss\n"
        "def slow(*a):\n    time.sleep(0.02)\n    return loss(*a)\n"
        "task.loss = slow\n"
        "train(task, CONFIG, Path(sys.argv[1]))\n"
    )
    folder = tmp_path / "killed"
    command = [sys.executable, str(script), str(folder)]
    process = subprocess.Popen(command)
    state = folder / "state.safetensors"
    while not state.exists():
        time.sleep(0.05)
        assert process.poll() is None
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    task = Line()
    names = torch.optim.AdamW(task.model.parameters())
    reached = load_state(
        state, task.model, {n: p.clone() for n, p in task.model.named_parameters()}, names
    )
    assert 0 < reached < CONFIG.steps
    subprocess.run(command, check=True)

    straight = train(Line(), CONFIG, tmp_path / "straight")
    resumed = Line().model
    ema = {n: p.detach().clone() for n, p in resumed.named_parameters()}
    load_state(state, resumed, ema, torch.optim.AdamW(resumed.parameters()))
    for name, p in straight.named_parameters():
        assert torch.equal(ema[name], p.detach())


def test_broken_batches_are_skipped_and_ten_in_a_row_go_back(tmp_path):
    task = Line(poison={20, *range(30, 41)})
    model = train(task, CONFIG, tmp_path)
    skipped = [row for row in rows(tmp_path) if row.get("skipped")]
    assert len(skipped) == 12
    assert all(torch.isfinite(p).all() for p in model.parameters())


def test_breakdown_before_the_first_checkpoint_is_an_error(tmp_path):
    config = TrainConfig(**{**CONFIG.__dict__, "checkpoint_seconds": 1e9})
    with pytest.raises(CheckpointError, match="broke down before the first checkpoint"):
        train(Line(poison=set(range(1, 60))), config, tmp_path)


def test_state_of_another_model_is_refused(tmp_path):
    model = torch.nn.Linear(1, 1)
    ema = {n: p.detach().clone() for n, p in model.named_parameters()}
    save_state(tmp_path / "s", model, ema, torch.optim.AdamW(model.parameters()), 3)
    other = torch.nn.Sequential(torch.nn.Linear(1, 1))
    with pytest.raises(CheckpointError, match="parameters differ"):
        load_state(tmp_path / "s", other, {}, torch.optim.AdamW(other.parameters()))


def test_learning_rate_warms_up_holds_and_cools_down():
    config = TrainConfig(steps=100, warmup=10, cooldown=0.2, learning_rate=1.0)
    assert learning_rate(config, 0) == pytest.approx(0.1)
    assert learning_rate(config, 50) == 1.0
    assert learning_rate(config, 90) == pytest.approx(0.5)


def test_split_is_fixed_and_has_its_shares():
    groups = [f"group {i}" for i in range(4000)]
    splits = [split_of(g) for g in groups]
    assert splits == [split_of(g) for g in groups]
    assert splits.count("test") / 4000 == pytest.approx(TEST_PERCENT / 100, abs=0.02)
    assert splits.count("val") / 4000 == pytest.approx(VAL_PERCENT / 100, abs=0.015)
    assert split_of("Scopia/chair") == split_of("Scopia/chair")


def test_furniture_names_to_categories_and_what_is_left_out():
    from seed3d.data.furniture import _keep, category_of

    for name, category in {
        "Coffee table": "table", "Desk lamp": "lamp", "Bedside table": "bedside_table",
        "Wine bottle": "bottle", "Sofa 2 seats": "sofa", "Armchair": "armchair",
        "Coffee mug": "mug", "Rock": "unknown", "Table fan": "unknown",
        "Tablet": "electronics", "Tennis racket": "tool", "Table tennis bat": "tool",
        "Table tennis": "table", "Clothes rack": "shelf", "Washbasin": "bathroom", "Basin": "bowl",
    }.items():  # fmt: skip
        assert category_of(name) == category, name
    assert not _keep({"name": "Oriental rug", "category": "Living room"})
    assert not _keep({"name": "Boy", "category": "Characters"})
    assert _keep({"name": "Oak chair", "category": "Living room"})


def test_training_cameras_frame_the_object_as_the_crop_does():
    import numpy as np
    import trimesh

    from seed3d.data.views import random_camera
    from seed3d.render.cameras import framed_camera
    from seed3d.types import Mesh

    mesh = Mesh.from_trimesh(trimesh.creation.box((0.4, 1.9, 0.8)))
    for camera in (
        framed_camera(mesh.vertices, 0.5, 0.3, 5.0),
        random_camera(mesh, True, np.random.default_rng(0)),
    ):
        uv, depth = camera.project(mesh.vertices)
        low, high = uv.min(axis=0), uv.max(axis=0)
        assert np.allclose(low + high, 0, atol=1e-9)  # centred
        assert np.isclose((high - low).max(), 1.6)  # 10 % of the side free on both ends
        assert depth.min() > 0


def test_rounding_noise_of_a_solved_task_is_no_spike(tmp_path):
    config = TrainConfig(**{**CONFIG.__dict__, "steps": 3000, "checkpoint_seconds": 1e9})
    train(Line(), config, tmp_path)
    norms = [row["norm"] for row in rows(tmp_path) if "norm" in row]
    assert norms[-1] < 1e-3 * norms[0] and not any("skipped" in row for row in rows(tmp_path))


def test_a_time_limit_ends_the_run_cooled_down(tmp_path):
    config = TrainConfig(
        **{**CONFIG.__dict__, "steps": 10**9, "minutes": 1.0 / 60, "checkpoint_seconds": 1e9}
    )
    assert learning_rate(config, 500, spent=0.5) == config.learning_rate
    assert learning_rate(config, 500, spent=0.875) == pytest.approx(config.learning_rate / 2)
    assert learning_rate(config, 500, spent=1.0) == 0.0
    start = time.monotonic()
    train(Line(), config, tmp_path)
    assert 1.0 <= time.monotonic() - start < 20.0
    last = [row for row in rows(tmp_path) if "lr" in row][-1]
    assert last["lr"] == 0.0 and (tmp_path / "state.safetensors").exists()


def test_varied_looks_keep_the_outline_and_the_white_ground():
    maps = PhotoFeatures(
        torch.ones(64, 112, 14, 14), torch.ones(64, 320, 7, 7), torch.ones(64, 1280),
        torch.cat([torch.ones(64, 3, 56, 28), torch.full((64, 3, 56, 28), 0.2)], 3),
    )  # fmt: skip
    maps = maps._replace(local=torch.cat([maps.local, torch.full((64, 1, 56, 56), -0.3)], 1))
    found = varied(maps, torch.Generator().manual_seed(0))
    assert torch.equal(found.local[:, 3], maps.local[:, 3])
    assert (found.local[:, :3, :, :28] == 1).all()
    assert found.local[:, :3, 0, -1].std() > 0.05
    for name in ("mid", "deep", "pooled"):
        value = getattr(found, name)
        assert value.mean() == pytest.approx(1.0, abs=0.03)  # what is left out is made up for
        assert (value == 0).float().mean() == pytest.approx(0.1, abs=0.03)


def test_mean_density_over_the_hull_of_a_ball():
    """Truth: 4/3 pi r^3 of a ball of 0.2 m; a mirror image has the same, no mass has none."""
    axis = (np.arange(64) + 0.5) / 32 - 1
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    signed = np.sqrt(x**2 + y**2 + z**2) - 0.8
    grid = torch.from_numpy((np.clip(signed / 0.1, -1, 1) * 127).astype(np.int8))
    rows = [{"mass_kg": 2.0, "size_m": [0.2] * 3}] * 2 + [{"mass_kg": None, "size_m": [0.2] * 3}]
    nothing = torch.zeros(0)
    balls = Objects(
        ["ball", "ball~", "other"], rows, grid.expand(3, -1, -1, -1),
        PhotoFeatures(*[nothing] * 4), nothing, nothing,
    )  # fmt: skip
    first, mirrored, unknown = hull_densities(balls).tolist()
    assert first == mirrored == pytest.approx(2.0 / (4 / 3 * np.pi * 0.1**3), rel=0.02)
    assert np.isnan(unknown)
