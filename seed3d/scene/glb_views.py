"""Cameras and lights of a scene in glTF: core cameras, and KHR_lights_punctual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.conventions import R_GLTF_WORLD
from seed3d.render.lighting import DirectionalLight
from seed3d.scene.parts import View, node_rotation

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

EXTENSION = "KHR_lights_punctual"
NEAR_M = 0.01
"""Nearest distance that a camera shows [m]; none is the farthest."""


def add_views(tree: dict[str, Any], scene: Scene) -> None:
    """Add cameras and lights to a glTF document, as nodes at the root of its scene.

    Directional lights as in the glTF extension (Khronos, KHR_lights_punctual): intensity in lux,
    so that a white matte face towards the light has the radiance that `DirectionalLight` says.
    The even light of sky and ground has no place in it and goes to the scene's extras.
    """
    places = [_camera_node(i, name, view) for i, (name, view) in enumerate(scene.cameras.items())]
    if scene.cameras:
        tree["cameras"] = [_camera(name, view) for name, view in scene.cameras.items()]
    lights = scene.lighting.lights
    if lights:
        tree.setdefault("extensionsUsed", []).append(EXTENSION)
        described = [_light(i, light) for i, light in enumerate(lights)]
        tree.setdefault("extensions", {})[EXTENSION] = {"lights": described}
        places += [_light_node(i, light) for i, light in enumerate(lights)]
    root = tree["scenes"][tree.get("scene", 0)]
    first = len(tree["nodes"])
    tree["nodes"] += places
    root["nodes"] = [*root["nodes"], *range(first, first + len(places))]
    light = scene.lighting
    even = {"sky": list(light.sky), "ground": list(light.ground), "exposure": light.exposure}
    root["extras"] = {**root.get("extras", {}), "lighting": even}


def _camera(name: str, view: View) -> dict[str, Any]:
    lens = {"aspectRatio": 1.0, "yfov": float(view.fov_rad), "znear": NEAR_M}
    return {"name": name, "type": "perspective", "perspective": lens}


def _camera_node(index: int, name: str, view: View) -> dict[str, Any]:
    place = R_GLTF_WORLD @ np.array(view.position)
    return {"name": name, "camera": index, "translation": _rounded(place),
            "rotation": _turn(view.node_rotation)}  # fmt: skip


def _light(index: int, light: DirectionalLight) -> dict[str, Any]:
    """The extension's colours are within 0 to 1; their scale belongs to the intensity."""
    top = max(light.color)
    color = [c / top for c in light.color] if top > 0 else [1.0, 1.0, 1.0]
    return {"name": f"light_{index}", "type": "directional", "color": color,
            "intensity": float(np.pi * top)}  # fmt: skip


def _light_node(index: int, light: DirectionalLight) -> dict[str, Any]:
    turn = _turn(node_rotation(light.azimuth_rad, light.elevation_rad))
    return {"name": f"light_{index}", "rotation": turn, "extensions": {EXTENSION: {"light": index}}}


def _turn(rotation: np.ndarray) -> list[float]:
    """Quaternion xyzw in the file's frame."""
    from scipy.spatial.transform import Rotation

    return _rounded(Rotation.from_matrix(R_GLTF_WORLD @ rotation).as_quat(canonical=True))


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(v), 9) + 0.0 for v in values]
