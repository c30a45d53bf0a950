"""Steps per second of dropped assets in MuJoCo and PyBullet: Seed3D's bodies against other routes.

Every route makes collision bodies from the same visual meshes, in this run: Seed3D's own, CoACD
with its defaults (what obj2mjcf calls), one convex hull, and CoACD held to 64 hulls.

Usage:
    python scripts/benchmark_simulation.py out/examples/* --json docs/results/simulation.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.export import load
from seed3d.physics.convex import convex_hull
from seed3d.physics.hull_worker import pack_request, unpack_reply
from seed3d.processes import ProcessTimeout, run_limited
from seed3d.types import Asset, Mesh, Primitive

ROUTES = ("seed3d", "coacd_defaults", "one_hull", "coacd_64_hulls")
Bodies = list[tuple[Mesh, Primitive | None]]


def bodies_of(route: str, asset: Asset, limit_s: float) -> Bodies:
    """Collision bodies of one route in the link frame."""
    if route == "seed3d":
        hulls = asset.collision.hulls
        return [(hull, asset.collision.primitive(i)) for i, hull in enumerate(hulls)]
    if route == "one_hull":
        return [(convex_hull(asset.mesh.vertices, 64)[0], None)]
    options: dict[str, Any] = {"threshold": 0.05}
    if route == "coacd_64_hulls":
        options = {"threshold": 0.01, "max_convex_hull": 64}
    command = [sys.executable, "-m", "seed3d.physics.hull_worker"]
    request = pack_request(asset.mesh.vertices, asset.mesh.faces, options)
    done = run_limited(command, request, limit_s)
    if done.returncode:
        raise ChildProcessError(done.stderr.decode(errors="replace")[-300:])
    return [(convex_hull(part, 64)[0], None) for part in unpack_reply(done.stdout)]


def places(assets: list[Asset], count: int) -> list[tuple[int, np.ndarray]]:
    """Which asset, and where its origin starts: a square grid of columns, clear of each other."""
    side = int(np.ceil(np.sqrt(count)))
    pitch = 1.2 * max(float(np.linalg.norm(a.mesh.extents[:2])) for a in assets)
    grid = [(i % side, i // side) for i in range(count)]
    return [
        (i % len(assets), np.array([pitch * x, pitch * y, 0.1])) for i, (x, y) in enumerate(grid)
    ]


def mujoco_rate(assets: list[Asset], bodies: list[Bodies], count: int, seconds: float) -> float:
    """Steps of 2 ms per second by the clock."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    for k, own in enumerate(bodies):
        for i, (hull, primitive) in enumerate(own):
            if primitive is None:
                spec.add_mesh(name=f"m{k}_{i}", uservert=hull.vertices.ravel().tolist())
    for k, start in places(assets, count):
        body = spec.worldbody.add_body(pos=start.tolist())
        body.add_freejoint()
        inertia = assets[k].body.inertia_kg_m2
        body.explicitinertial = True
        body.mass, body.ipos = assets[k].body.mass_kg, assets[k].body.com_m
        order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        body.fullinertia = [inertia[i] for i in order]
        for i, (_, primitive) in enumerate(bodies[k]):
            if primitive is None:
                body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"m{k}_{i}")
            else:
                _mujoco_primitive(body, primitive)
    model = spec.compile()
    data = mujoco.MjData(model)
    return _rate(lambda: mujoco.mj_step(model, data), seconds / model.opt.timestep)


def _mujoco_primitive(body: Any, primitive: Primitive) -> None:
    import mujoco

    from seed3d.export.principal import quaternion

    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{primitive.kind.upper()}")
    size = primitive.size_m
    half = (
        [s / 2 for s in size] if primitive.kind == "box" else [size[0], *(s / 2 for s in size[1:])]
    )
    body.add_geom(type=kind, size=[*half, 0, 0][:3], pos=primitive.center_m.tolist(),
                  quat=list(quaternion(primitive.rotation)))  # fmt: skip


def bullet_rate(assets: list[Asset], bodies: list[Bodies], count: int, seconds: float) -> float:
    """Steps of 2 ms per second by the clock."""
    import pybullet as b

    client = b.connect(b.DIRECT)
    shapes: dict[int, int] = {}
    holder = tempfile.TemporaryDirectory()
    folder = holder.name
    try:
        b.setGravity(0, 0, -9.81, physicsClientId=client)
        b.setTimeStep(0.002, physicsClientId=client)
        floor = b.createCollisionShape(b.GEOM_PLANE, physicsClientId=client)
        b.createMultiBody(0, floor, physicsClientId=client)
        for k, start in places(assets, count):
            com = assets[k].body.com_m
            if k not in shapes:
                shapes[k] = _bullet_shape(b, bodies[k], com, folder, client)
            made = b.createMultiBody(assets[k].body.mass_kg, shapes[k], basePosition=(start + com).tolist(),
                                     physicsClientId=client)  # fmt: skip
            moments = np.linalg.eigvalsh(assets[k].body.inertia_kg_m2)
            b.changeDynamics(
                made, -1, localInertiaDiagonal=moments.tolist(), physicsClientId=client
            )
        return _rate(lambda: b.stepSimulation(physicsClientId=client), seconds / 0.002)
    finally:
        b.disconnect(client)
        holder.cleanup()


def _bullet_shape(b: Any, bodies: Bodies, com: np.ndarray, folder: str, client: int) -> int:
    """One compound shape; PyBullet takes several hulls from files only."""
    made = [_bullet_options(b, hull, primitive, com) for hull, primitive in bodies]
    files = []
    for hull, primitive in bodies:
        file = Path(folder) / f"{len(files)}_{id(bodies)}.obj"
        if primitive is None:
            hull.to_trimesh().export(file)
        files.append(str(file))
    return b.createCollisionShapeArray(
        shapeTypes=[kind for kind, _ in made],
        radii=[o.get("radius", 0.0) for _, o in made],
        halfExtents=[o.get("halfExtents", [0.0, 0.0, 0.0]) for _, o in made],
        lengths=[o.get("height", 0.0) for _, o in made],
        fileNames=files,
        meshScales=[[1.0, 1.0, 1.0] for _ in made],
        collisionFramePositions=[o["collisionFramePosition"] for _, o in made],
        collisionFrameOrientations=[o["collisionFrameOrientation"] for _, o in made],
        physicsClientId=client,
    )


def _bullet_options(
    b: Any, hull: Mesh, primitive: Primitive | None, com: np.ndarray
) -> tuple[int, dict[str, Any]]:
    from scipy.spatial.transform import Rotation

    if primitive is None:
        return b.GEOM_MESH, {
            "collisionFramePosition": (-com).tolist(), "collisionFrameOrientation": [0, 0, 0, 1]
        }  # fmt: skip
    here: dict[str, Any] = {
        "collisionFramePosition": (primitive.center_m - com).tolist(),
        "collisionFrameOrientation": Rotation.from_matrix(primitive.rotation).as_quat().tolist(),
    }
    size = primitive.size_m
    if primitive.kind == "box":
        return b.GEOM_BOX, {**here, "halfExtents": [s / 2 for s in size]}
    if primitive.kind == "sphere":
        return b.GEOM_SPHERE, {**here, "radius": size[0]}
    kind = b.GEOM_CYLINDER if primitive.kind == "cylinder" else b.GEOM_CAPSULE
    return kind, {**here, "radius": size[0], "height": size[1]}


def _rate(step: Any, steps: float) -> float:
    for _ in range(50):
        step()
    start = time.process_time()  # a busy machine must not change the figure
    for _ in range(int(steps)):
        step()
    return int(steps) / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assets", nargs="+", type=Path, help="asset folders (with report.json)")
    parser.add_argument("--count", type=int, default=20, help="assets dropped at once")
    parser.add_argument("--seconds", type=float, default=2.0, help="simulated time")
    parser.add_argument("--limit", type=float, default=300.0, help="processor seconds of one CoACD")
    parser.add_argument("--routes", nargs="*", default=list(ROUTES), choices=ROUTES)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    folders = [p.parent for f in args.assets for p in sorted(f.rglob("report.json"))]
    assets = [load(folder) for folder in folders]
    made: dict[str, list[Bodies]] = {route: [] for route in args.routes}
    seconds = dict.fromkeys(args.routes, 0.0)
    kept, failed = [], {}
    for asset in assets:  # compared on those that every route can make
        try:
            bodies = {}
            for route in args.routes:
                start = time.perf_counter()
                bodies[route] = bodies_of(route, asset, args.limit)
                seconds[route] += time.perf_counter() - start
        except (ProcessTimeout, ChildProcessError) as error:
            failed[asset.name] = f"{route}: {' '.join(str(error).split())[-200:]}"
            print(f"{asset.name}: left out, {failed[asset.name]}", flush=True)
            continue
        kept.append(asset)
        for route in args.routes:
            made[route].append(bodies[route])
    assets = kept
    if not assets:
        sys.exit("no asset was made by every route")
    table = {}
    for route, bodies in made.items():
        table[route] = {
            "hulls_mean": round(statistics.mean(len(b) for b in bodies), 2),
            "mujoco_steps_per_second": round(mujoco_rate(assets, bodies, args.count, args.seconds)),
            "pybullet_steps_per_second": round(
                bullet_rate(assets, bodies, args.count, args.seconds)
            ),
            "seconds_to_make": round(seconds[route], 1),
        }
        print(route, table[route], flush=True)
    result = {
        "assets": [a.name for a in assets], "failed": failed, "dropped": args.count, "timestep_s": 0.002,
        "simulated_s": args.seconds, "clock": "processor time of one thread", "routes": table,
    }  # fmt: skip
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
