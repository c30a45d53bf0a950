"""Asset to MJCF: one body with a free joint."""

from __future__ import annotations

from pathlib import PurePosixPath
from xml.etree import ElementTree

from seed3d.export.encode import element, number, numbers, xml
from seed3d.export.obj import VISUAL, hull_path, texture_path
from seed3d.export.principal import quaternion
from seed3d.types import Asset, Primitive, RigidBody

SOLIMP = "0 0.95 0.0003 0.5 2"
"""Contacts set in gently, over 0.3 mm. MuJoCo's default of 0.9 from the first touch switches the
few contacts of a mesh on a plane on and off, and light things of many hulls rock for ever."""


def mjcf_files(asset: Asset) -> dict[str, bytes]:
    """Return <name>.xml, which needs the files of `obj_files` and `texture_files` beside it.

    Every name starts with the asset's, so that two assets fit in one model. Geom groups follow
    MuJoCo's habit: 2 visual, 3 collision (hidden in the viewer at first). Restitution isn't
    written: MuJoCo has no such coefficient.
    """
    root, assets, body = _document(asset)
    _hulls(assets, body, asset)
    return {f"{asset.name}.xml": xml(root)}


def mjcf_sdf_files(asset: Asset) -> dict[str, bytes]:
    """Return <name>_sdf.xml: as `mjcf_files`, but MuJoCo collides with the mesh itself.

    The visible mesh is one geom of type sdf, for which MuJoCo builds a signed distance field in an
    octree: cavities are exact, at the price of loading time and of slower contacts between two such
    bodies. Written for MuJoCo 4; releases that need a plugin for it refuse the file.
    """
    root, _, body = _document(asset)
    element(
        body,
        "geom",
        name=f"{asset.name}_sdf",
        class_=f"{asset.name}_collision",
        type="sdf",
        mesh=f"{asset.name}_visual",
    )
    return {f"{asset.name}_sdf.xml": xml(root)}


def _document(
    asset: Asset,
) -> tuple[ElementTree.Element, ElementTree.Element, ElementTree.Element]:
    """The model without collision geometry, its <asset> and its body."""
    root = ElementTree.Element("mujoco", {"model": asset.name})
    element(
        root,
        "compiler",
        angle="radian",
        meshdir="meshes",
        texturedir="textures",
        inertiafromgeom="false",
    )
    _defaults(root, asset)
    assets = _assets(root, asset)
    body = element(element(root, "worldbody"), "body", name=asset.name)
    element(body, "freejoint", name=f"{asset.name}_free")
    _inertial(body, asset.body)
    visual = f"{asset.name}_visual"
    element(
        body, "geom", name=visual, class_=visual, mesh=visual, material=f"{asset.name}_material"
    )
    return root, assets, body


def _defaults(root: ElementTree.Element, asset: Asset) -> None:
    body = asset.body
    default = element(root, "default")
    visual = element(default, "default", class_=f"{asset.name}_visual")
    element(visual, "geom", type="mesh", contype="0", conaffinity="0", group="2", mass="0")
    collision = element(default, "default", class_=f"{asset.name}_collision")
    friction = numbers((body.friction, body.spinning_friction, body.rolling_friction))
    element(
        collision, "geom", type="mesh", group="3", condim=_condim(body), friction=friction,
        solimp=SOLIMP,
    )  # fmt: skip


def _condim(body: RigidBody) -> str:
    # MuJoCo reads a torsional or rolling coefficient only in a contact with enough dimensions.
    if body.rolling_friction > 0:
        return "6"
    return "4" if body.spinning_friction > 0 else "3"


def _assets(root: ElementTree.Element, asset: Asset) -> ElementTree.Element:
    name, assets = asset.name, element(root, "asset")
    texture = PurePosixPath(texture_path("base_color")).name
    element(assets, "texture", name=f"{name}_base_color", type="2d", file=texture)
    roughness, metallic = asset.maps.metallic_roughness[..., 1:].mean(axis=(0, 1)) / 255.0
    element(
        assets,
        "material",
        name=f"{name}_material",
        texture=f"{name}_base_color",
        metallic=number(round(float(metallic), 4)),
        roughness=number(round(float(roughness), 4)),
    )
    element(assets, "mesh", name=f"{name}_visual", file=PurePosixPath(VISUAL).name)
    return assets


def _inertial(parent: ElementTree.Element, body: RigidBody) -> None:
    tensor = body.inertia_kg_m2
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # MuJoCo: xx yy zz xy xz yz
    element(
        parent,
        "inertial",
        pos=numbers(body.com_m),
        mass=number(body.mass_kg),
        fullinertia=numbers(tensor[i, j] for i, j in order),
    )


def _hulls(assets: ElementTree.Element, body: ElementTree.Element, asset: Asset) -> None:
    name = asset.name
    for i in range(len(asset.collision.hulls)):
        hull, primitive = f"{name}_hull_{i:03d}", asset.collision.primitive(i)
        if primitive is None:
            element(assets, "mesh", name=hull, file=PurePosixPath(hull_path(i)).name)
            element(body, "geom", name=hull, class_=f"{name}_collision", mesh=hull)
        else:
            element(body, "geom", name=hull, class_=f"{name}_collision", **_primitive(primitive))


def _primitive(primitive: Primitive) -> dict[str, str]:
    """Attributes of a geom; MuJoCo wants half lengths."""
    size = primitive.size_m
    if primitive.kind == "box":
        own = tuple(length / 2.0 for length in size)
    else:
        own = (size[0], *(length / 2.0 for length in size[1:]))
    return {
        "type": primitive.kind,
        "size": numbers(own),
        "pos": numbers(primitive.center_m),
        "quat": numbers(quaternion(primitive.rotation)),
    }
