"""VecSet models against the published architecture: same names, same function."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from seed3d.geometry.vecset import VecSetVAE
from seed3d.geometry.vecset_dit import VecSetDiT
from seed3d.geometry.vecset_flow import sample

DATA = Path(__file__).parent / "data" / "triposg"
CONFIGS = json.loads((DATA / "small_configs.json").read_text())
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def vae():
    model = VecSetVAE(**CONFIGS["vae"])
    model.load_state_dict(load_file(DATA / "vae_small.safetensors"), strict=True)
    return model.eval()


@pytest.fixture(scope="module")
def dit():
    model = VecSetDiT(**CONFIGS["transformer"])
    model.load_state_dict(load_file(DATA / "dit_small.safetensors"), strict=True)
    return model.eval()


def close(a, b):
    assert a.shape == b.shape
    assert float((a - b).abs().max()) < TOLERANCE


@torch.no_grad()
def test_vae_computes_the_published_function(vae):
    io = load_file(DATA / "vae_small_io.safetensors")
    found = vae.encode(io["surface"], 32, queries=io["surface"][:, :32])
    close(found.mean, io["latent_mean"])
    close(found.logvar, io["latent_logvar"])
    close(vae.decode(io["latent_mean"], io["query"])[..., None], io["decoded"])
    field = vae.field(io["latent_mean"], chunk=33)
    close(field(io["query"])[..., None], -io["decoded"])


@torch.no_grad()
def test_dit_computes_the_published_function(dit):
    io = load_file(DATA / "dit_small_io.safetensors")
    close(dit(io["latent"], io["timestep"], io["condition"]), io["velocity"])


@torch.no_grad()
def test_sampler_computes_the_published_function(dit):
    io = load_file(DATA / "sampler_small_io.safetensors")
    asked = []

    def model(x, t, condition):
        asked.append(float(t[0]))
        return dit(x, t, condition)

    close(sample(model, io["noise"], io["condition"], 5, 7.0), io["latent"])
    assert asked == pytest.approx(io["timesteps"].tolist())


@pytest.mark.parametrize(("part", "kind"), [("vae", VecSetVAE), ("transformer", VecSetDiT)])
def test_full_size_takes_every_published_name(part, kind):
    shapes = json.loads((DATA / "full_size_keys.json").read_text())[part]
    with torch.device("meta"):
        state = {name: torch.empty(shape) for name, shape in shapes.items()}
        model = kind()
    model.load_state_dict(state, strict=True, assign=True)
    assert {k: list(v.shape) for k, v in model.state_dict().items()} == shapes


@pytest.fixture(scope="module")
def small():
    """Random networks of the published kinds, small; the decoder's field is a lumpy ball."""
    from transformers import Dinov2Config, Dinov2Model

    from seed3d.geometry.triposg import Loaders

    torch.manual_seed(0)
    encoder = Dinov2Model(Dinov2Config(**DINO)).eval()
    dit = VecSetDiT(
        num_attention_heads=2, width=16, in_channels=4, num_layers=3, cross_attention_dim=24
    ).eval()
    vae = VecSetVAE(
        latent_channels=4, num_attention_heads=2, width_encoder=16, width_decoder=16,
        num_layers_encoder=1, num_layers_decoder=1,
    ).eval()  # fmt: skip
    field = vae.field

    def lumpy(latents, chunk=8192):
        sdf = field(latents, chunk)
        stretch = torch.tensor([1.0, 0.6, 1.4])  # Y up: 0.6 high seen from the front
        return lambda p: (p * stretch).norm(dim=-1) - 0.6 + 0.02 * sdf(p).tanh()

    vae.field = lumpy
    return Loaders(lambda _: encoder, lambda _: dit, lambda _: vae)


DINO = {
    "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 224,
    "patch_size": 14,
}  # fmt: skip


def photo():
    from seed3d.types import Subject

    axis = (np.arange(224) + 0.5) / 112 - 1
    x, y = np.meshgrid(axis, axis)
    mask = ((x / 0.45) ** 2 + (y / 0.75) ** 2 < 1).astype(np.float32)
    return Subject(np.dstack([1 - 0.5 * mask] * 3), mask, "alpha")


def test_photo_to_shape_through_every_stage(small, monkeypatch):
    from seed3d.config import GeometryConfig, TripoSGConfig
    from seed3d.geometry import triposg
    from seed3d.geometry.triposg import shape_from_triposg, triposg_mesh

    monkeypatch.setattr(triposg, "FIT_STEPS", 15)
    monkeypatch.setattr(triposg, "GRID", 32)

    config = GeometryConfig(
        model="triposg", triposg=TripoSGConfig(steps=2, tokens=8, resolution=32)
    )
    shape = shape_from_triposg(photo(), config, 3, "cpu", small)
    mesh = shape.mesh.to_trimesh()
    assert mesh.is_watertight
    # Its X, Y (up), Z semi-axes 0.6, 1, 0.43 are our Y, Z, X; the longest side becomes 1.9.
    assert np.allclose(mesh.extents, np.array([0.43, 0.6, 1.0]) * 1.9, atol=0.1)
    assert np.allclose(mesh.bounds.mean(0), 0, atol=1e-6)
    assert shape.silhouette_iou > 0.8
    assert shape.size_m.low < shape.size_m.value < shape.size_m.high
    meshes = [triposg_mesh(photo(), config.triposg, 3, "cpu", small) for _ in range(2)]
    assert np.array_equal(meshes[0].vertices, meshes[1].vertices)


def test_stages_are_loaded_one_after_another(small):
    """When a network is asked for, those before it are gone."""
    import weakref

    from seed3d.config import TripoSGConfig
    from seed3d.geometry.triposg import Loaders, triposg_mesh

    alive, order = [], []

    def once(part):
        def load(device):
            assert all(ref() is None for ref in alive), "an earlier network is still in memory"
            copy = type(source[part])(source[part].config) if part == "encoder" else (
                type(source[part])(**{k: v for k, v in source[part].config.items() if k[0] != "_"}))  # fmt: skip
            if part == "vae":
                torch.nn.init.constant_(copy.decoder.proj_out.bias, 0.0)
            alive.append(weakref.ref(copy))
            order.append(part)
            return copy.eval()

        return load

    source = {
        "encoder": small.encoder(""), "transformer": small.transformer(""), "vae": small.vae("")
    }  # fmt: skip
    loaders = Loaders(*(once(part) for part in source))
    triposg_mesh(photo(), TripoSGConfig(steps=2, tokens=8, resolution=32), 0, "cpu", loaders)
    assert order == ["encoder", "transformer", "vae"]


def test_missing_weights_and_package_say_what_to_do(tmp_path, monkeypatch):
    from seed3d.config import GeometryConfig
    from seed3d.errors import CheckpointError, MissingDependencyError
    from seed3d.geometry.dinov2 import load_dinov2
    from seed3d.geometry.generate import shape_from_photo

    monkeypatch.setenv("SEED3D_CACHE", str(tmp_path))
    with pytest.raises(CheckpointError, match="seed3d weights fetch dinov2-large"):
        shape_from_photo(photo(), GeometryConfig(model="triposg"))
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'seed3d\[open-weights\]'"):
        load_dinov2(tmp_path)


def test_dinov2_loads_strictly_and_its_input_is_cropped_and_normalised(small, tmp_path):
    from seed3d.errors import CheckpointError
    from seed3d.geometry.dinov2 import load_dinov2, photo_tokens, pixels

    small.encoder("").save_pretrained(tmp_path)
    (tmp_path / "config.json").unlink()  # the published set is fetched without it
    model = load_dinov2(tmp_path, config=DINO)
    tokens = photo_tokens(photo().rgb, model)
    assert tokens.shape == (1, 257, 24)
    assert torch.equal(tokens, photo_tokens(photo().rgb, small.encoder("")))
    assert torch.allclose(pixels(np.full((512, 512, 3), 0.485))[0, 0], torch.zeros(()), atol=1e-4)
    with pytest.raises(CheckpointError, match="not the weights of dinov2-large"):
        load_dinov2(tmp_path, config={**DINO, "num_hidden_layers": 3})


def test_weights_of_another_model_are_refused():
    from seed3d.errors import CheckpointError
    from seed3d.geometry.triposg import load_part

    path = DATA / "vae_small.safetensors"
    assert load_part(VecSetVAE, CONFIGS["vae"], path, "cpu").device.type == "cpu"
    with pytest.raises(CheckpointError, match="not the weights of VecSetDiT"):
        load_part(VecSetDiT, CONFIGS["transformer"], path, "cpu")


def test_diffusers_pipeline_round_trip(tmp_path):
    from seed3d.config import load_preset
    from seed3d.geometry.generate import shape_with
    from seed3d.geometry.model import load_model
    from seed3d.geometry.pipeline_diffusers import ImageToShapePipeline

    pipe = ImageToShapePipeline.bundled()
    pipe.save_pretrained(tmp_path)
    assert not [p for p in tmp_path.rglob("*") if p.suffix in {".bin", ".pt", ".pkl"}]
    back = ImageToShapePipeline.from_pretrained(tmp_path)
    for name in ("autoencoder", "dit", "head"):
        old, new = getattr(pipe, name).state_dict(), getattr(back, name).state_dict()
        assert old.keys() == new.keys() and all(torch.equal(old[k], new[k]) for k in old)
    assert back.config.shift == load_model("seed3d-tiny").shift
    config = load_preset("smoke")
    found = back(photo(), config, seed=1).shape
    truth = shape_with(load_model("seed3d-tiny"), photo(), config.geometry, 1)
    # The weights are the same numbers at other places in memory, so sums may round otherwise.
    volumes = [shape.mesh.to_trimesh().volume for shape in (found, truth)]
    assert volumes[0] == pytest.approx(volumes[1], rel=1e-4)
    assert np.allclose(found.mesh.bounds, truth.mesh.bounds, atol=1e-4)
    assert found.category.value == truth.category.value
