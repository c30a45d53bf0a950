"""Training that goes on from the bundled weights changes what it trained, and nothing else."""

import importlib.util
from argparse import Namespace
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import save_file

from seed3d.geometry.model import load_model

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def stages():
    spec = importlib.util.spec_from_file_location("stages", ROOT / "scripts" / "train_geometry.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def config():
    return yaml.safe_load((ROOT / "configs" / "train" / "tiny_more.yaml").read_text())


def test_a_run_of_the_head_keeps_the_other_networks(stages, config, tmp_path):
    bundled = load_model("seed3d-tiny")
    head = {name: value + 1 for name, value in bundled.head.state_dict().items()}
    save_file(head, tmp_path / "head.safetensors")
    model = stages.assembled(Namespace(run=tmp_path), config)
    for name, value in bundled.head.state_dict().items():
        assert torch.equal(model.head.state_dict()[name], value + 1), name
    for part in ("dit", "autoencoder"):
        for name, value in getattr(bundled, part).state_dict().items():
            assert torch.equal(getattr(model, part).state_dict()[name], value), name
    assert model.shift == bundled.shift


def test_what_starts_from_the_bundled_weights_can_be_trained(stages, config, tmp_path):
    head = stages.started(stages.build_head(config), Namespace(run=tmp_path), config, "head")
    same = load_model("seed3d-tiny").head.state_dict()
    assert all(torch.equal(value, same[name]) for name, value in head.state_dict().items())
    assert all(p.requires_grad for p in head.parameters())


def test_a_share_of_the_new_weights_is_the_same_whatever_is_bundled_later(
    stages, config, tmp_path, monkeypatch
):
    args, empty = Namespace(run=tmp_path), stages.ShapeDiT(**config["dit"])
    begun = stages.started(empty, args, config, "dit").state_dict()
    trained = {name: value + 1 for name, value in begun.items()}
    before = {name: value.clone() for name, value in begun.items()}
    save_file(trained, tmp_path / "dit.safetensors")
    monkeypatch.setattr(stages, "load_model", None)  # the run has all it needs
    model = stages.finished(stages.ShapeDiT(**config["dit"]), args, config, "dit")
    share = config["share"]["dit"]
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, before[name] + share, msg=name)


def test_without_a_start_a_run_must_hold_every_network(stages, config, tmp_path):
    scratch = {name: value for name, value in config.items() if name != "start"}
    with pytest.raises(FileNotFoundError, match="head"):
        stages.assembled(Namespace(run=tmp_path), scratch)
