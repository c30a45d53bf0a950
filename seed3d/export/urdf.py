"""Asset to URDF: one free link."""

from __future__ import annotations

from xml.etree import ElementTree

from seed3d.export.encode import element, number, numbers, xml
from seed3d.export.obj import VISUAL, hull_path
from seed3d.export.principal import roll_pitch_yaw
from seed3d.types import Asset, Primitive


def urdf_files(asset: Asset) -> dict[str, bytes]:
    """Return <name>.urdf, which needs the files of `obj_files` and `texture_files` beside it.

    The inertia is about the centre of mass along the link's axes, and its products are the
    tensor's off-diagonals (-int xy dm). PyBullet reads it only with
    `URDF_USE_INERTIA_FROM_FILE`. `<contact>` is PyBullet's extension, `<mujoco>` MuJoCo's;
    other readers skip them.
    """
    robot = ElementTree.Element("robot", {"name": asset.name})
    # MuJoCo's extension: keep folders in file names (older versions drop them) and the link as
    # a body of its own. It still needs a joint to move; <name>.xml has one.
    element(element(robot, "mujoco"), "compiler", strippath="false", fusestatic="false")
    link = element(robot, "link", name=asset.name)
    _contact(link, asset)
    _inertial(link, asset)
    visual = element(link, "visual", name=f"{asset.name}_visual")
    _mesh(visual, VISUAL)
    material = element(visual, "material", name=f"{asset.name}_material")
    element(material, "color", rgba="1 1 1 1")  # multiplies the texture of visual.mtl
    for i in range(len(asset.collision.hulls)):
        collision = element(link, "collision", name=f"{asset.name}_hull_{i:03d}")
        primitive = asset.collision.primitive(i)
        if primitive is None:
            _mesh(collision, hull_path(i))
        else:
            _primitive(collision, primitive)
    return {f"{asset.name}.urdf": xml(robot)}


def _contact(link: ElementTree.Element, asset: Asset) -> None:
    body, contact = asset.body, element(link, "contact")
    element(contact, "lateral_friction", value=number(body.friction))
    element(contact, "rolling_friction", value=number(body.rolling_friction))
    element(contact, "spinning_friction", value=number(body.spinning_friction))
    element(contact, "restitution", value=number(body.restitution))


def _inertial(link: ElementTree.Element, asset: Asset) -> None:
    body, inertial = asset.body, element(link, "inertial")
    element(inertial, "origin", xyz=numbers(body.com_m), rpy="0 0 0")
    element(inertial, "mass", value=number(body.mass_kg))
    tensor = body.inertia_kg_m2
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = (tensor[0, 0], tensor[0, 1], tensor[0, 2], tensor[1, 1], tensor[1, 2], tensor[2, 2])
    values = {name: number(v) for name, v in zip(names, entries, strict=True)}
    element(inertial, "inertia", **values)


def _mesh(parent: ElementTree.Element, path: str) -> None:
    element(parent, "origin", xyz="0 0 0", rpy="0 0 0")
    element(element(parent, "geometry"), "mesh", filename=path, scale="1 1 1")


def _primitive(parent: ElementTree.Element, primitive: Primitive) -> None:
    """PyBullet, MuJoCo and newer URDF readers know <capsule> (length without the caps)."""
    angles = numbers(roll_pitch_yaw(primitive.rotation))
    element(parent, "origin", xyz=numbers(primitive.center_m), rpy=angles)
    geometry, size = element(parent, "geometry"), primitive.size_m
    if primitive.kind == "box":
        element(geometry, "box", size=numbers(size))
    elif primitive.kind == "sphere":
        element(geometry, "sphere", radius=number(size[0]))
    else:
        element(geometry, primitive.kind, radius=number(size[0]), length=number(size[1]))
