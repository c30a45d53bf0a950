"""At rest nothing may creep or gain energy; free of forces nothing may be gained or lost."""

from __future__ import annotations

import numpy as np

from seed3d.verify.drop import GRAVITY, timestep
from seed3d.verify.text import percent
from seed3d.verify.trials.run import Log, at_rest, natural_s, stands
from seed3d.verify.trials.scene import Item, Layout, Open

REST_SECONDS = 20.0
"""How long an object is watched at rest [natural time]."""
CREEP = 0.01
"""Largest way of the centre of mass at rest, as a share of the size."""
JITTER = 1e-3
"""Largest kinetic energy at rest over m g size."""
TURNS = 3.0
"""Turns of the free spin."""
SPIN_LOSS = 0.05
"""Largest change of the kinetic energy of a free spin, as a share."""


def rest_drift(item: Item, open_scene: Open, log: Log) -> None:
    """Watch an object that stands: it must not creep, jitter or gain energy."""
    scene, item = at_rest(item, open_scene)
    if not stands(item):
        log.skip("rest drift", "it may roll or rock for long")
        return
    start = scene.state(("copy", 0)).com_m
    scale = item.mass.mass_kg * GRAVITY * item.size_m
    creep = energy = 0.0
    points = []
    steps = int(REST_SECONDS * natural_s(item.size_m) / scene.timestep_s)
    for step in range(steps):
        scene.step()
        way = float(np.linalg.norm(scene.state(("copy", 0)).com_m - start)) / item.size_m
        energy = max(energy, scene.kinetic_j(("copy", 0)) / scale)
        creep = max(creep, way)
        points.append((step * scene.timestep_s, 100.0 * way))
    log.check("rest drift", creep <= CREEP, percent(creep), f"<= {100 * CREEP:g} % of the size")
    log.check(
        "rest energy", energy <= JITTER, percent(energy), f"<= {100 * JITTER:g} % of m g size"
    )
    log.trace("Creep at rest", ("time [s]", "way of the centre of mass [% of size]"), points)


def free_spin(item: Item, open_scene: Open, log: Log) -> None:
    """Spin without gravity about a skew axis: kinetic energy and angular momentum must stay."""
    layout = Layout(
        (item.upright(item.size_m),), floor=False, timestep_s=timestep(item.size_m) / 4.0
    )
    scene = open_scene(layout)
    scene.gravity(np.zeros(3))
    rate = 1.0 / natural_s(item.size_m)
    scene.set_velocity(("copy", 0), np.zeros(3), rate * np.array([0.5, 0.7, 0.5]))
    start = scene.kinetic_j(("copy", 0))
    if not start > 0:
        log.check("free spin", False, "no inertia in the engine", "kinetic energy > 0")
        return
    points, worst = [], 0.0
    for step in range(int(TURNS * 2 * np.pi / rate / scene.timestep_s)):
        scene.step()
        off = scene.kinetic_j(("copy", 0)) / start - 1.0
        worst = max(worst, abs(off)) if np.isfinite(off) else np.inf
        points.append((step * scene.timestep_s, 100.0 * off))
    wanted = f"<= {100 * SPIN_LOSS:g} % of the kinetic energy in {TURNS:g} turns"
    log.check("free spin", worst <= SPIN_LOSS, percent(worst), wanted)
    log.trace("Energy of a free spin", ("time [s]", "change [%]"), points)
