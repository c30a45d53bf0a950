"""Every option of Seed3D, once: dataclass default, then YAML preset, then flag.

The text under a field is its help. Unknown keys fail and name the near miss.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from seed3d.errors import ConfigError, near_miss


@dataclass(frozen=True)
class ImageConfig:
    """Photo to prepared subject."""

    max_pixels: int = 64_000_000
    """Refuse images with more pixels than this, before decoding them."""
    mask: Literal["auto", "alpha", "model"] = "auto"
    """auto: alpha where the file has one, else the segmentation model."""
    size: int = 512
    """Side of the square crop [pixel]."""
    padding: float = 0.1
    """Margin around the object, as a share of the crop's side."""


@dataclass(frozen=True)
class TripoSGConfig:
    """The published TripoSG model, `geometry.model: triposg`."""

    steps: int = 50
    """Euler steps of its flow."""
    guidance: float = 7.0
    """Classifier-free guidance, as published."""
    tokens: int = 2048
    """Latent tokens of the shape."""
    resolution: int = 256
    """Cells along a side of the surface extraction."""


@dataclass(frozen=True)
class GeometryConfig:
    """Subject to canonical shape."""

    model: str = "seed3d-tiny"
    """Name in checkpoints/manifest.yaml; or triposg, after `seed3d weights fetch triposg`."""
    steps: int = 4
    """Euler steps of the rectified flow."""
    guidance: float = 1.0
    """Classifier-free guidance; 1 is off."""
    noise: float = 0.0
    """Scale of the starting noise: 0 gives the likeliest shape, 1 the variety learnt."""
    candidates: int = 1
    """Cameras tried per photo; of several, the shape that agrees best with the mask is kept."""
    fit_steps: int = 60
    """Most steps of the silhouette fit; it ends early where the shape agrees with the mask. 0 is off."""
    resolution: int = 128
    """Grid of the surface extraction along the longest side."""
    triposg: TripoSGConfig = field(default_factory=TripoSGConfig)


@dataclass(frozen=True)
class MeshConfig:
    """Any mesh to one watertight body."""

    resolution: int = 128
    """Voxels along the longest side when an open or broken mesh must be rebuilt."""
    min_component: float = 0.02
    """Components with less than this share of the largest one's size (bounding-box diagonal) are dropped."""
    target_faces: int = 20_000
    """Face budget of the visual mesh."""


@dataclass(frozen=True)
class TextureConfig:
    """Solid to textured solid."""

    size: int = 1024
    """Side of the texture maps [texel]."""
    padding: int = 4
    """Gap between charts [texel]."""
    unwrap_timeout_s: float = 60.0
    """Processor time of the unwrapper, which runs in a process of its own."""
    albedo: Literal["auto", "model", "simple", "photo"] = "simple"
    """How the photo's light is removed. model: a network, which also gives roughness and metallic;
    simple: a fit by the direction of faces; photo: not at all; auto: model where it is installed."""
    completion: Literal["auto", "model", "symmetric"] = "symmetric"
    """Colours of what the photo doesn't show. symmetric: its mirror images, then smooth along the
    surface; model: a network that mixes seen colours; auto: model where it is installed."""
    model: str = "seed3d-texture-tiny"
    """Name in checkpoints/manifest.yaml."""


@dataclass(frozen=True)
class PhysicsConfig:
    """Solid to rigid body."""

    height: float | None = None
    """True height (z) of the object [m]."""
    length: float | None = None
    """True longest side of the bounding box [m]."""
    mass: float | None = None
    """True mass [kg]."""
    material: str | None = None
    """Row of configs/materials.yaml."""
    mass_model: Literal["auto", "solid", "shell"] = "auto"
    """What mass, centre of mass and inertia are integrated over. solid: the enclosed volume; shell:
    a thin skin on the surface; auto: shell where the user's mesh is an open sheet, else solid."""
    wall: float | None = None
    """Thickness of the skin of a shell [m]; the material's usual wall where None."""
    hull_threshold: float = 0.05
    """CoACD concavity threshold; lower keeps more detail in more hulls."""
    primitive_tolerance: float = 0.01
    """A hull becomes a box, sphere, cylinder or capsule within this share of its size, and within
    3 % of its volume; 0 keeps every hull."""
    max_hulls: int = 64
    """Most convex hulls per asset; they are merged where that fills little open space."""
    max_hull_vertices: int = 60
    """Most vertices per hull (GPU PhysX takes 64)."""
    hull_timeout_s: float = 90.0
    """Processor time of the decomposition, which runs in a process of its own."""


@dataclass(frozen=True)
class VlmConfig:
    """A vision-language model that is asked for size, material and category; off by default."""

    url: str = ""
    """Base URL of an OpenAI-compatible endpoint, e.g. http://localhost:8000/v1; empty is off."""
    model: str = "default"
    """Name of the model at that endpoint."""
    key_env: str = ""
    """Environment variable that holds the API key; empty sends none."""
    timeout_s: float = 60.0
    """Longest wait for the answer [s]; then the estimates stay as they are."""
    image_size: int = 512
    """Longest side of the picture that is sent [pixel]."""


@dataclass(frozen=True)
class ExportConfig:
    """Asset to files."""

    formats: tuple[str, ...] = ("urdf", "mjcf", "usd", "glb")
    """Which of urdf, mjcf, usd, glb to write; mjcf_sdf adds <name>_sdf.xml, in which MuJoCo collides
    with the mesh's signed distance field instead of hulls."""
    preview_size: int = 512
    """Side of preview.png's panels [pixel]."""
    turntable_frames: int = 16
    """Frames of turntable.webp; 0 writes none."""


@dataclass(frozen=True)
class VerifyConfig:
    """Files to verdict."""

    engines: tuple[str, ...] = ("pybullet", "mujoco")
    """Engines that must agree."""
    drop_height: float = 0.05
    """Height of the drop, as a share of the object's longest side, at least 1 cm."""
    seconds: float = 3.0
    """Longest simulated time of the drop [s]; objects over 0.9 m get more, 10 sqrt(size / g)."""
    steady: bool = False
    """Fail what isn't at rest 3 s after a fall from 5 cm (balls, cradles); else that is stated."""


@dataclass(frozen=True)
class Config:
    """Everything a run depends on."""

    seed: int = 0
    """Seed of every random choice."""
    device: str = "auto"
    """auto, cpu or cuda."""
    threads: int | None = None
    """Threads of PyTorch and BLAS; 0: as many as they like. Another number rounds otherwise, to
    other hulls. None: one, on which the bundled networks are as fast; 0 for larger models."""
    image: ImageConfig = field(default_factory=ImageConfig)
    geometry: GeometryConfig = field(default_factory=GeometryConfig)
    mesh: MeshConfig = field(default_factory=MeshConfig)
    texture: TextureConfig = field(default_factory=TextureConfig)
    physics: PhysicsConfig = field(default_factory=PhysicsConfig)
    vlm: VlmConfig = field(default_factory=VlmConfig)
    export: ExportConfig = field(default_factory=ExportConfig)
    verify: VerifyConfig = field(default_factory=VerifyConfig)


T = typing.TypeVar("T")


def from_dict(cls: type[T], data: dict[str, Any], where: str = "") -> T:
    """Build the dataclass `cls` from nested plain data, strictly.

    Raises:
        ConfigError: A key is unknown or a value has the wrong type.
    """
    return update(cls(), data, where)


def update(config: T, data: dict[str, Any], where: str = "") -> T:
    """Return `config` with the (nested) keys of `data` replaced, strictly."""
    if not isinstance(data, dict):
        raise ConfigError(f"{where or 'configuration'}: got {data!r}; wanted a mapping of options")
    hints = typing.get_type_hints(type(config))
    changes: dict[str, Any] = {}
    for key, value in data.items():
        path = f"{where}.{key}" if where else str(key)
        if key not in hints:
            raise ConfigError(f"unknown option {path!r}.{near_miss(str(key), hints)}")
        old = getattr(config, key)
        if dataclasses.is_dataclass(old):
            changes[key] = update(old, value, path)
        else:
            changes[key] = _convert(value, hints[key], path)
    return dataclasses.replace(config, **changes)  # type: ignore[type-var]


def _convert(value: Any, hint: Any, path: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        if value not in args:
            raise ConfigError(f"{path}: got {value!r}.{near_miss(str(value), map(str, args))}")
        return value
    if type(None) in args:
        inner = next(a for a in args if a is not type(None))
        return None if value is None else _convert(value, inner, path)
    if origin is tuple:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            raise ConfigError(f"{path}: got {value!r}; wanted a list")
        return tuple(_convert(v, args[0], path) for v in items)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, hint) and not (isinstance(value, bool) and hint is not bool):
        return value
    raise ConfigError(f"{path}: got {value!r} ({type(value).__name__}); wanted {hint.__name__}")


def data_dir(name: str) -> Path:
    """Return the folder `configs` or `checkpoints`: inside an installed wheel, else the checkout's."""
    packaged = Path(__file__).parent / f"_{name}"
    return packaged if packaged.is_dir() else Path(__file__).parent.parent / name


def presets() -> list[str]:
    """Return the names of the presets in configs/generate."""
    return sorted(p.stem for p in (data_dir("configs") / "generate").glob("*.yaml"))


def load_preset(name: str) -> Config:
    """Return the configuration of a preset name, or of a path to a YAML file.

    Raises:
        ConfigError: No such preset, or an unknown key in it.
    """
    import yaml

    path = Path(name) if name.endswith((".yaml", ".yml")) else _preset_path(name)
    if not path.is_file():
        raise ConfigError(f"no configuration file {str(path)!r}; presets: {', '.join(presets())}")
    return from_dict(Config, yaml.safe_load(path.read_text()) or {}, "")


def _preset_path(name: str) -> Path:
    if name not in presets():
        raise ConfigError(f"no preset {name!r}.{near_miss(name, presets())}")
    return data_dir("configs") / "generate" / f"{name}.yaml"


def to_dict(config: Any) -> dict[str, Any]:
    """Return nested plain data, for reports and `--dry-run`."""
    return dataclasses.asdict(config)
