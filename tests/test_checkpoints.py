"""Weight files: round trip, verification, and what a user reads when something is wrong."""

import hashlib

import pytest
import torch
import yaml
from safetensors.torch import save_file

from seed3d import checkpoints
from seed3d.checkpoints import list_models, load_state, load_strict, register, save_state
from seed3d.errors import CheckpointError

FACTS = {"licence": "Apache-2.0", "source": "test", "trained_on": "nothing", "score": "1"}


@pytest.fixture
def folder(tmp_path):
    state = {"weight": torch.tensor([[0.1, -2.0]]), "bias": torch.tensor([3.0])}
    save_state(tmp_path / "small.safetensors", state, {"width": 2}, "Apache-2.0. test")
    register(tmp_path / "small.safetensors", "small", **FACTS)
    return tmp_path


def test_round_trip_is_exact_up_to_half_precision(folder):
    state, config = load_state("small", folder)
    assert config == {"width": 2}
    assert state["weight"].dtype == torch.float32
    assert torch.equal(state["weight"], torch.tensor([[0.1, -2.0]]).half().float())
    linear = load_strict(torch.nn.Linear(2, 1), state, "small")
    assert not linear.training
    assert linear(torch.tensor([[0.0, 1.0]])).item() == 1.0


def test_full_precision_and_integers_are_kept(tmp_path):
    state = {"a": torch.tensor([1 / 3]), "n": torch.tensor([2**40])}
    save_state(tmp_path / "a.safetensors", state, {}, "x", half=False)
    loaded, _ = load_state(str(tmp_path / "a.safetensors"))
    assert torch.equal(loaded["a"], state["a"])
    assert torch.equal(loaded["n"], state["n"])


def test_same_weights_give_same_bytes(tmp_path):
    state = {k: torch.arange(5.0) for k in "zyxwv"}
    files = []
    for name in ("1.safetensors", "2.safetensors"):
        save_state(tmp_path / name, state, {"b": 1, "a": [2]}, "about")
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_register_replaces_and_sorts(folder):
    save_state(folder / "a.safetensors", {"w": torch.zeros(3)}, {}, "about")
    register(folder / "a.safetensors", "a-first", **FACTS)
    register(folder / "small.safetensors", "small", **{**FACTS, "score": "2"})
    models = list_models(folder)
    assert [m.name for m in models] == ["a-first", "small"]
    assert models[1].score == "2"
    data = (folder / "small.safetensors").read_bytes()
    assert (models[1].bytes, models[1].sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_one_changed_byte_is_noticed(folder):
    path = folder / "small.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=r"'small'.*damaged or was replaced.*got SHA-256"):
        load_state("small", folder)


def test_missing_file_says_how_to_restore_it(folder):
    (folder / "small.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"is missing; wanted \d+ bytes.*git checkout"):
        load_state("small", folder)
    with pytest.raises(CheckpointError, match="no weight file"):
        load_state(str(folder / "small.safetensors"))
    with pytest.raises(CheckpointError, match="no weight file"):
        register(folder / "small.safetensors", "small", **FACTS)


def test_unknown_model_names_the_near_miss(folder):
    with pytest.raises(CheckpointError, match=r"no model 'smal'. Did you mean 'small'\?"):
        load_state("smal", folder)


def test_no_manifest(tmp_path):
    with pytest.raises(CheckpointError, match="no weight manifest"):
        list_models(tmp_path)


def test_incomplete_manifest_entry(folder):
    path = folder / checkpoints.MANIFEST
    entries = yaml.safe_load(path.read_text())
    del entries["small"]["licence"]
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(CheckpointError, match=r"entry 'small' has keys.*wanted.*licence"):
        list_models(folder)


def test_pickle_in_disguise_is_not_loaded(tmp_path):
    torch.save({"w": torch.zeros(2)}, tmp_path / "evil.safetensors")
    with pytest.raises(CheckpointError, match="not a readable safetensors file"):
        load_state(str(tmp_path / "evil.safetensors"))


def test_foreign_safetensors(tmp_path):
    save_file({"w": torch.zeros(2)}, tmp_path / "other.safetensors")
    with pytest.raises(CheckpointError, match="not a Seed3D model"):
        load_state(str(tmp_path / "other.safetensors"))


def test_weights_of_another_model(folder):
    state, _ = load_state("small", folder)
    with pytest.raises(CheckpointError, match=r"'small': its weights don't fit Linear"):
        load_strict(torch.nn.Linear(3, 1), state, "small")
    with pytest.raises(CheckpointError, match="Missing key"):
        load_strict(torch.nn.Linear(2, 1), {"weight": state["weight"]}, "small")


@pytest.mark.parametrize("value", [1e6, float("nan")])
def test_weights_that_half_precision_would_ruin(tmp_path, value):
    with pytest.raises(CheckpointError, match=r"'w' is not finite as torch\.float16"):
        save_state(tmp_path / "x.safetensors", {"w": torch.tensor([value])}, {}, "x")


def test_shipped_models_load_and_name_their_licence():
    models = {m.name: m for m in list_models()}
    assert {"efficientnet-lite0", "u2netp"} <= set(models)
    for model in models.values():
        assert model.licence
        assert model.source
        state, config = load_state(model.name)
        assert config
        assert all(bool(v.isfinite().all()) for v in state.values())
