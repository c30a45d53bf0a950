"""Scene to MJCF: one model in which instances share meshes, textures and materials."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from seed3d.export.encode import element, number, numbers, xml
from seed3d.export.mjcf import _condim, _inertial, _primitive
from seed3d.export.obj import VISUAL, hull_path, texture_path
from seed3d.scene.parts import GROUND, Item
from seed3d.types import Asset

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

TIMESTEP_S = 0.002
SOLVER = {"solref": "0.006 1", "solimp": "0.95 0.99 0.001"}
"""Stiffer than MuJoCo's default (0.02 1), which lets stacks sink in by more than a millimetre."""
_YIELDING = "0.00001 0.00001 0.00001"
"""MuJoCo takes the larger friction of a pair: ground and blocks leave it to what touches them."""
STIFFER_FRICTION = 100
"""MuJoCo's friction is a soft constraint: what leans creeps. With 10, a mug on a tray's rim slides
off it within some seconds; with 100 it moves by 0.03 mm/s."""


def asset_folder(key: str) -> str:
    """Return the folder of an asset inside the scene's."""
    return f"assets/{key}"


def mjcf_scene(scene: Scene, visuals: bool = True) -> bytes:
    """Return scene.xml, which needs the assets' meshes and textures beside it.

    Args:
        scene: Names are unique and safe, as `Scene` keeps them.
        visuals: Write visual meshes and textures too; hulls alone are enough to simulate.
    """
    root = ElementTree.Element("mujoco", {"model": scene.name})
    element(root, "compiler", angle="radian", inertiafromgeom="false")
    element(
        root, "option", timestep=number(TIMESTEP_S), gravity="0 0 -9.81", integrator="implicitfast",
        cone="elliptic", impratio=number(STIFFER_FRICTION),
    )  # fmt: skip
    default = element(root, "default")
    element(default, "geom", **SOLVER)
    assets = element(root, "asset")
    for key, asset in scene.assets.items():
        _defaults(default, key, asset)
        _asset(assets, key, asset, visuals)
    world = element(root, "worldbody")
    _surroundings(root, world, scene)
    for item in scene.items.values():
        _body(world, item, scene.assets[item.asset], visuals)
    return xml(root)


def _defaults(default: ElementTree.Element, key: str, asset: Asset) -> None:
    body = asset.body
    visual = element(default, "default", class_=f"{key}_visual")
    element(visual, "geom", type="mesh", contype="0", conaffinity="0", group="2", mass="0")
    collision = element(default, "default", class_=f"{key}_collision")
    friction = numbers((body.friction, body.spinning_friction, body.rolling_friction))
    element(collision, "geom", type="mesh", group="3", condim=_condim(body), friction=friction)


def _asset(assets: ElementTree.Element, key: str, asset: Asset, visuals: bool) -> None:
    folder = asset_folder(key)
    if visuals:
        base = f"{folder}/{texture_path('base_color')}"
        element(assets, "texture", name=f"{key}_base_color", type="2d", file=base)
        roughness, metallic = asset.maps.metallic_roughness[..., 1:].mean(axis=(0, 1)) / 255.0
        element(
            assets, "material", name=f"{key}_material", texture=f"{key}_base_color",
            metallic=number(round(float(metallic), 4)), roughness=number(round(float(roughness), 4)),
        )  # fmt: skip
        element(assets, "mesh", name=f"{key}_visual", file=f"{folder}/{VISUAL}")
    for i in range(len(asset.collision.hulls)):
        if asset.collision.primitive(i) is None:
            element(assets, "mesh", name=f"{key}_hull_{i:03d}", file=f"{folder}/{hull_path(i)}")


def _surroundings(root: ElementTree.Element, world: ElementTree.Element, scene: Scene) -> None:
    from seed3d.render.lighting import DirectionalLight

    light: DirectionalLight
    for index, light in enumerate(scene.lighting.lights):
        element(
            world, "light", name=f"light_{index}", type="directional",
            dir=numbers(-light.direction), pos=numbers(3.0 * light.direction),
            diffuse=numbers(light.color), castshadow="true" if light.shadows else "false",
        )  # fmt: skip
    for name, view in scene.cameras.items():
        right, up, _ = view.node_rotation.T
        element(
            world, "camera", name=name, pos=numbers(view.position),
            xyaxes=numbers([*right, *up]), fovy=number(view.fov_rad),
        )  # fmt: skip
    if scene.ground is not None:
        rgba = numbers([*scene.ground.color, 1.0])
        element(
            world, "geom", name=GROUND, type="plane", size="0 0 1", rgba=rgba,
            friction=_YIELDING, condim="1", solmix="0.000001",
        )  # fmt: skip
    for block in scene.blocks.values():
        element(
            world, "geom", name=block.name, type="box", size=numbers(s / 2 for s in block.size_m),
            pos=numbers(block.pose.position), quat=numbers(block.pose.quaternion),
            rgba=numbers([*block.color, 1.0]), friction=_YIELDING, condim="1", solmix="0.000001",
        )  # fmt: skip


def _body(world: ElementTree.Element, item: Item, asset: Asset, visuals: bool) -> None:
    body = element(
        world, "body", name=item.name, pos=numbers(item.pose.position),
        quat=numbers(item.pose.quaternion),
    )  # fmt: skip
    if not item.fixed:
        element(body, "freejoint", name=f"{item.name}_free")
        _inertial(body, asset.body)
    key = item.asset
    if visuals:
        element(
            body, "geom", name=f"{item.name}_visual", class_=f"{key}_visual",
            mesh=f"{key}_visual", material=f"{key}_material",
        )  # fmt: skip
    for i in range(len(asset.collision.hulls)):
        hull, primitive = f"hull_{i:03d}", asset.collision.primitive(i)
        own = {"mesh": f"{key}_{hull}"} if primitive is None else _primitive(primitive)
        element(body, "geom", name=f"{item.name}_{hull}", class_=f"{key}_collision", **own)
