"""Layout files (YAML, JSON) to scenes and back. scene.json of a saved scene is one too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.errors import InputError, Seed3DError, near_miss

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

FORMAT, VERSION = "seed3d-scene", 1
_TOP = {
    "format", "version", "name", "seed", "ground", "assets", "asset_names", "blocks", "walls",
    "objects", "clutter", "settle", "cameras", "lighting",
}  # fmt: skip
_ASSET = {"folder", "image", "mesh", "height", "length", "mass", "material", "scale", "up"}
_BLOCK = {"size", "position", "yaw", "quaternion", "color"}
_OBJECT = {
    "asset", "name", "fixed", "position", "yaw", "quaternion", "scale", "on", "in", "beside",
    "against", "at", "level", "side", "gap",
}  # fmt: skip
_CLUTTER = {"assets", "count", "into", "center", "radius", "upright"}
_WALLS = {"width", "depth", "height", "thickness"}
_SETTLE = {"engine", "seconds"}
_CAMERA = {"position", "target", "fov"}
_LIGHTING = {"lights", "sky", "ground", "exposure"}
_LIGHT = {"azimuth", "elevation", "color", "shadows"}


def to_layout(scene: Scene) -> dict[str, Any]:
    """Return a scene as plain data with every pose; asset folders are relative to the file."""
    from seed3d.scene.mjcf import asset_folder

    lighting = scene.lighting
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": scene.name,
        "seed": scene.seed,
        "ground": None if scene.ground is None else {"color": list(scene.ground.color)},
        "assets": {key: {"folder": asset_folder(key)} for key in scene.assets},
        "asset_names": {key: asset.name for key, asset in scene.assets.items()},
        "blocks": {
            b.name: {
                "size": list(b.size_m),
                "position": list(b.pose.position),
                "quaternion": list(b.pose.quaternion),
                "color": list(b.color),
            }
            for b in scene.blocks.values()
        },
        "objects": [
            {
                "name": i.name,
                "asset": i.asset,
                "fixed": i.fixed,
                "position": list(i.pose.position),
                "quaternion": list(i.pose.quaternion),
            }
            for i in scene.items.values()
        ],
        "cameras": {
            name: {"position": list(v.position), "target": list(v.target),
                   "fov": float(np.degrees(v.fov_rad))}
            for name, v in scene.cameras.items()
        },
        "lighting": {
            "lights": [
                {"azimuth": float(np.degrees(x.azimuth_rad)),
                 "elevation": float(np.degrees(x.elevation_rad)),
                 "color": list(x.color), "shadows": x.shadows}
                for x in lighting.lights
            ],
            "sky": list(lighting.sky), "ground": list(lighting.ground),
            "exposure": lighting.exposure,
        },
    }  # fmt: skip


def load_scene(path: Path, config: Any = None) -> Scene:
    """Read a saved scene or a layout file; see `Scene.load`."""
    file = path / "scene.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: can't be read ({error}); wanted a layout file") from error
    return build(_parse(text, file), file.parent, config, file.name)


def _parse(text: str, file: Path) -> Any:
    import yaml

    try:
        return (
            json.loads(text) if file.suffix == ".json" else yaml.load(text, _loader())
        )  # a SafeLoader
    except (ValueError, yaml.YAMLError) as error:
        raise InputError(f"{file}: got broken text ({' '.join(str(error).split())})") from error


def _loader() -> Any:
    """YAML 1.1's safe loader, but `on`, `off`, `yes`, `no` are words: `on` is a relation here."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:bool" or first in "tTfF"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def build(data: Any, base: Path, config: Any = None, where: str = "layout") -> Scene:
    """Make the scene a layout describes, in the order: assets, blocks, objects, clutter, settle.

    Args:
        data: Plain data of a layout file.
        base: Folder that relative paths start from.
        config: For assets made from images or meshes; the default preset where None.
        where: Name of the file, for messages.

    Raises:
        InputError: Unknown key (with the near miss), wrong type, missing file.
        StageError: A relation finds no place, or an asset can't be made.
    """
    from seed3d.scene.parts import Ground
    from seed3d.scene.scene import Scene

    top = _strict(data, _TOP, where)
    if top.get("format", FORMAT) != FORMAT or top.get("version", VERSION) != VERSION:
        raise InputError(
            f"{where}: got format {top.get('format')!r} version {top.get('version')!r}; wanted "
            f"{FORMAT!r} version {VERSION}"
        )
    scene = Scene(str(top.get("name", "scene")), int(_number(top.get("seed", 0), f"{where}.seed")))
    if "ground" in top:
        given = top["ground"]
        if given in (None, False):
            scene.ground = None
        elif given is not True:
            options = _strict(given, {"color"}, f"{where}.ground")
            scene.ground = Ground(**{k: tuple(v) for k, v in options.items()})
    keys = {}
    for label, spec in _mapping(top.get("assets", {}), f"{where}.assets").items():
        keys[label] = _asset(scene, str(label), spec, base, config, f"{where}.assets.{label}")
    for label, spec in _mapping(top.get("blocks", {}), f"{where}.blocks").items():
        _block(scene, str(label), _strict(spec, _BLOCK, f"{where}.blocks.{label}"), where)
    if top.get("walls"):
        scene.add_walls(**_numbers(_strict(top["walls"], _WALLS, f"{where}.walls")))
    for index, spec in enumerate(_sequence(top.get("objects", []), f"{where}.objects")):
        _object(scene, _strict(spec, _OBJECT, f"{where}.objects[{index}]"), keys, where, index)
    clutter = top.get("clutter") or []
    for index, spec in enumerate(clutter if isinstance(clutter, list) else [clutter]):
        _clutter(
            scene, _strict(spec, _CLUTTER, f"{where}.clutter"), keys, f"{where}.clutter[{index}]"
        )
    for label, spec in _mapping(top.get("cameras", {}), f"{where}.cameras").items():
        camera = _strict(spec, _CAMERA, f"{where}.cameras.{label}")
        _need(camera, ("position", "target"), f"{where}.cameras.{label}")
        scene.add_camera(str(label), camera["position"], camera["target"], camera.get("fov", 40.0))
    if top.get("lighting"):
        _lighting(scene, top["lighting"], f"{where}.lighting")
    if top.get("settle"):
        spec = {} if top["settle"] is True else _strict(top["settle"], _SETTLE, f"{where}.settle")
        scene.settle(**spec)
    return scene


def _asset(scene: Scene, label: str, spec: Any, base: Path, config: Any, where: str) -> str:
    """Load or make one asset and return its key in the scene."""
    spec = {"folder": spec} if isinstance(spec, str) else dict(_strict(spec, _ASSET, where))
    kinds = [k for k in ("folder", "image", "mesh") if k in spec]
    if len(kinds) != 1:
        raise InputError(f"{where}: got {kinds or 'no source'}; wanted one of folder, image, mesh")
    path = base / str(spec[kinds[0]])
    if not path.exists():
        raise InputError(f"{where}: no such file or folder {str(path)!r}")
    made: Any = path if kinds[0] == "folder" else _make(kinds[0], path, spec, label, config)
    return scene._asset_key(made, float(_number(spec.get("scale", 1.0), f"{where}.scale")))


def _make(kind: str, path: Path, spec: dict[str, Any], label: str, config: Any) -> Any:
    from seed3d.config import Config, update
    from seed3d.pipeline import generate, simready

    physics = {k: spec[k] for k in ("height", "length", "mass", "material") if k in spec}
    config = update(config or Config(), {"physics": physics})
    if kind == "image":
        return generate(path, config, name=label)
    return simready(path, config, name=label, up=spec.get("up"))


def _block(scene: Scene, label: str, spec: dict[str, Any], where: str) -> None:
    from dataclasses import replace

    from seed3d.scene.scene import _pose

    _need(spec, ("size", "position"), f"{where}.blocks.{label}")
    name = scene.add_block(label, spec["size"], spec["position"],
                           color=spec.get("color", (0.78, 0.76, 0.73)))  # fmt: skip
    pose = _pose(spec["position"], spec.get("yaw"), spec.get("quaternion"))
    scene.blocks[name] = replace(scene.blocks[name], pose=pose)


def _object(
    scene: Scene, spec: dict[str, Any], keys: dict[str, str], where: str, index: int
) -> None:
    label = f"{where}.objects[{index}]"
    _need(spec, ("asset",), label)
    if spec["asset"] not in keys:
        raise InputError(
            f"{label}: no asset {spec['asset']!r}.{near_miss(str(spec['asset']), keys)}"
        )
    words = {"in": "inside", "yaw": "yaw_deg"}
    options = {words.get(k, k): v for k, v in spec.items() if k != "asset"}
    try:
        scene.add(keys[spec["asset"]], **options)
    except Seed3DError as error:
        raise type(error)(f"{label}: {error}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{label}: got a value of the wrong kind ({error})") from error


def _clutter(scene: Scene, spec: dict[str, Any], keys: dict[str, str], where: str) -> None:
    names = spec.get("assets") or list(keys)
    for name in names:
        if name not in keys:
            raise InputError(f"{where}: no asset {name!r}.{near_miss(str(name), keys)}")
    options = {k: v for k, v in spec.items() if k not in ("assets", "count")}
    scene.drop([keys[n] for n in names], int(spec.get("count", 10)), **options)


def _lighting(scene: Scene, given: Any, where: str) -> None:
    from seed3d.render.lighting import DirectionalLight, Lighting

    spec = _strict(given, _LIGHTING, where)
    lights = []
    for index, item in enumerate(_sequence(spec.get("lights", []), f"{where}.lights")):
        one = _strict(item, _LIGHT, f"{where}.lights[{index}]")
        _need(one, ("azimuth", "elevation"), f"{where}.lights[{index}]")
        lights.append(
            DirectionalLight(
                float(np.radians(one["azimuth"])), float(np.radians(one["elevation"])),
                tuple(one.get("color", (0.8, 0.8, 0.8))), bool(one.get("shadows", True)),
            )
        )  # fmt: skip
    default = Lighting(())
    scene.lighting = Lighting(
        tuple(lights), tuple(spec.get("sky", default.sky)), tuple(spec.get("ground", default.ground)),
        float(spec.get("exposure", default.exposure)),
    )  # fmt: skip


def _strict(data: Any, known: set[str], where: str) -> dict[str, Any]:
    for key in _mapping(data, where):
        if key not in known:
            raise InputError(f"{where}: unknown key {key!r}.{near_miss(str(key), known)}")
    return data


def _mapping(data: Any, where: str) -> dict[Any, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{where}: got {data!r}; wanted a mapping")
    return data


def _sequence(data: Any, where: str) -> list[Any]:
    if not isinstance(data, list):
        raise InputError(f"{where}: got {data!r}; wanted a list")
    return data


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: got {value!r}; wanted a number")
    return value


def _numbers(data: dict[str, Any]) -> dict[str, float]:
    return {key: float(_number(value, key)) for key, value in data.items()}


def _need(spec: dict[str, Any], wanted: tuple[str, ...], where: str) -> None:
    missing = [key for key in wanted if key not in spec]
    if missing:
        raise InputError(f"{where}: got no {', '.join(missing)}; wanted it")
