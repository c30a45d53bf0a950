"""Scene to URDF: every asset has its own, blocks get one each; a script loads them in PyBullet."""

from __future__ import annotations

from xml.etree import ElementTree

from seed3d.export.encode import element, numbers, xml
from seed3d.scene.parts import Block

LOADER = "load_pybullet.py"
LOADER_TEXT = '''"""Load this scene in PyBullet. Needs only pybullet.

    python load_pybullet.py            # opens a window
    python load_pybullet.py --direct   # runs 2 s without one and prints where things are

In your own code: bodies = load(client); bodies["name"] is PyBullet's body number.
"""

import json
import sys
import time
from pathlib import Path

import pybullet

HERE = Path(__file__).resolve().parent


def load(client=0, visual=True):
    """Return {name: body number}. Call after pybullet.connect."""
    scene = json.loads((HERE / "scene.json").read_text(encoding="utf-8"))
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE  # the default would make up another inertia
    if not visual:
        flags |= pybullet.URDF_IGNORE_VISUAL_SHAPES
    bodies = {}
    if scene["ground"]:
        plane = pybullet.createCollisionShape(
            pybullet.GEOM_PLANE, planeNormal=[0, 0, 1], physicsClientId=client
        )
        bodies["ground"] = pybullet.createMultiBody(0, plane, physicsClientId=client)
    for name, block in scene["blocks"].items():
        path = HERE / "blocks" / (name + ".urdf")
        bodies[name] = _load(path, block["position"], block["quaternion"], True, flags, client)
    for name in list(bodies):  # frictions multiply: 1 leaves the object's own
        pybullet.changeDynamics(
            bodies[name], -1, lateralFriction=1, restitution=1, physicsClientId=client
        )
    for item in scene["objects"]:
        key = item["asset"]
        path = HERE / "assets" / key / (scene["asset_names"][key] + ".urdf")
        body = _load(path, item["position"], item["quaternion"], item["fixed"], flags, client)
        pybullet.changeDynamics(
            body, -1, linearDamping=0, angularDamping=0, physicsClientId=client
        )
        bodies[item["name"]] = body
    return bodies


def _load(path, position, wxyz, fixed, flags, client):
    w, x, y, z = wxyz
    return pybullet.loadURDF(
        str(path), position, [x, y, z, w], useFixedBase=fixed, flags=flags, physicsClientId=client
    )


if __name__ == "__main__":
    direct = "--direct" in sys.argv
    client = pybullet.connect(pybullet.DIRECT if direct else pybullet.GUI)
    bodies = load(client)
    steps = 0
    while pybullet.isConnected(client) and not (direct and steps >= 480):
        pybullet.stepSimulation(physicsClientId=client)
        steps += 1
        if not direct:
            time.sleep(1 / 240)
    if direct:
        for name, body in bodies.items():
            print(name, pybullet.getBasePositionAndOrientation(body, physicsClientId=client)[0])
'''


def block_urdf(block: Block) -> bytes:
    """Return a box as a URDF of one link whose frame is its centre; load it with a fixed base."""
    robot = ElementTree.Element("robot", {"name": block.name})
    link = element(robot, "link", name=block.name)
    inertial = element(link, "inertial")
    element(inertial, "mass", value="1")
    a, b, c = (s * s / 12.0 for s in block.size_m)
    moments = numbers((b + c, a + c, a + b)).split()
    zero = {"ixy": "0", "ixz": "0", "iyz": "0"}
    element(inertial, "inertia", ixx=moments[0], iyy=moments[1], izz=moments[2], **zero)
    for kind in ("visual", "collision"):
        shape = element(link, kind)
        element(element(shape, "geometry"), "box", size=numbers(block.size_m))
        if kind == "visual":
            material = element(shape, "material", name=f"{block.name}_material")
            element(material, "color", rgba=numbers([*block.color, 1.0]))
    return xml(robot)
