"""Truth: closed forms, scaling laws, and what MuJoCo and PyBullet do with the results."""

import json
import sys
import textwrap
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from manifold3d import CrossSection, Manifold

from seed3d.config import PhysicsConfig
from seed3d.errors import ConfigError, StageError
from seed3d.mesh.manifold import from_manifold
from seed3d.physics import hulls as hulls_module
from seed3d.physics import inertia, materials
from seed3d.physics.body import material_volume, metric, rigid_body
from seed3d.physics.convex import MINIMUM_THICKNESS, convex_hull
from seed3d.physics.hulls import decompose
from seed3d.types import Estimate, Mesh

NONE = Estimate(None, "prior")
FINE = 256
"""Segments of a circle where a closed form of a round body is the truth."""


def box(x: float, y: float, z: float) -> Manifold:
    return Manifold.cube([x, y, z], True)


def ring(major: float, minor: float, around: int = FINE, across: int = FINE // 2) -> Manifold:
    return CrossSection.circle(minor, across).translate([major, 0]).revolve(around)


def cup(radius: float, height: float, wall: float, segments: int = FINE) -> Manifold:
    """Standing on z = 0, open at the top."""
    inner = Manifold.cylinder(height, radius - wall, radius - wall, segments)
    return Manifold.cylinder(height, radius, radius, segments) - inner.translate([0, 0, wall])


def table() -> Manifold:
    body = box(1.4, 0.8, 0.04).translate([0, 0, 0.74])
    for x in (-0.65, 0.65):
        for y in (-0.35, 0.35):
            body += box(0.06, 0.06, 0.73).translate([x, y, 0.365])
    return body


def chair() -> Manifold:
    body = box(0.45, 0.45, 0.05).translate([0, 0, 0.45]) + box(0.04, 0.45, 0.2).translate(
        [-0.205, 0, 0.85]
    )
    for y in (-0.2, 0.2):
        body += box(0.04, 0.04, 0.95).translate([-0.205, y, 0.475])
        body += box(0.04, 0.04, 0.45).translate([0.2, y, 0.225])
    return body


def mesh_of(solid: Manifold) -> Mesh:
    return from_manifold(solid)


def rotation(seed: int) -> np.ndarray:
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


# ---------------------------------------------------------------- mass properties


def closed_form(name: str) -> tuple[Manifold, float, np.ndarray, np.ndarray]:
    """Return body, volume, centre of mass and inertia about it, at density 1."""
    if name == "box":
        x, y, z = 0.3, 0.5, 0.9
        m = x * y * z
        return (
            box(x, y, z),
            m,
            np.zeros(3),
            m / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y]),
        )
    if name == "sphere":
        r = 0.4
        m = 4 / 3 * np.pi * r**3
        return Manifold.sphere(r, FINE), m, np.zeros(3), 0.4 * m * r * r * np.eye(3)
    if name == "cylinder":
        r, h = 0.3, 0.8
        m = np.pi * r * r * h
        side = m * (3 * r * r + h * h) / 12
        return (
            Manifold.cylinder(h, r, r, FINE, True),
            m,
            np.zeros(3),
            np.diag([side, side, m * r * r / 2]),
        )
    if name == "cone":
        r, h = 0.3, 0.8
        m = np.pi * r * r * h / 3
        side = m * (3 / 20 * r * r + 3 / 80 * h * h)
        body = Manifold.cylinder(h, r, 0.0, FINE)
        return body, m, np.array([0, 0, h / 4]), np.diag([side, side, 0.3 * m * r * r])
    if name == "torus":
        a, b = 0.5, 0.15
        m = 2 * np.pi**2 * a * b * b
        side = m * (4 * a * a + 5 * b * b) / 8
        return ring(a, b), m, np.zeros(3), np.diag([side, side, m * (a * a + 0.75 * b * b)])
    raise KeyError(name)


@pytest.mark.parametrize("name", ["box", "sphere", "cylinder", "cone", "torus"])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_closed_forms_rotated_and_translated(name: str, seed: int | None) -> None:
    body, volume, com, tensor = closed_form(name)
    mesh = mesh_of(body)
    turn = np.eye(3) if seed is None else rotation(seed)
    shift = np.zeros(3) if seed is None else np.array([10.0, 20.0, -30.0])
    mesh = Mesh(mesh.vertices @ turn.T + shift, mesh.faces)
    got = inertia.mass_properties(mesh, 700.0)
    exact = name == "box"
    tolerance = 1e-11 if exact else 1.5e-3
    assert got.mass == pytest.approx(700 * volume, rel=tolerance)
    assert got.com == pytest.approx(turn @ com + shift, abs=1e-9)
    wanted = inertia.rotate_inertia(700 * tensor, turn)
    assert got.inertia == pytest.approx(wanted, abs=tolerance * np.linalg.norm(wanted))


def combine(
    parts: list[tuple[float, np.ndarray, np.ndarray]],
) -> tuple[float, np.ndarray, np.ndarray]:
    """Sum bodies (mass, com, inertia about the com) by the parallel-axis law; masses may be < 0."""
    mass = sum(m for m, _, _ in parts)
    com = sum(m * c for m, c, _ in parts) / mass
    return mass, com, sum(inertia.inertia_about(i, m, c - com) for m, c, i in parts)


def block(x: float, y: float, z: float, at: tuple[float, float, float], sign: int = 1):
    m = sign * x * y * z
    tensor = m / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    return m, np.array(at, float), tensor


def test_composed_bodies_match_sums_of_boxes_and_cylinders() -> None:
    ell = box(1, 1, 0.4) - box(0.8, 0.8, 1).translate([0.1, 0.1, 0])
    truth = combine([block(1, 1, 0.4, (0, 0, 0)), block(0.8, 0.8, 0.4, (0.1, 0.1, 0), -1)])
    check_against(ell, truth, 1e-10)
    hollow = box(1, 0.8, 0.6) - box(0.9, 0.7, 0.5)
    truth = combine([block(1, 0.8, 0.6, (0, 0, 0)), block(0.9, 0.7, 0.5, (0, 0, 0), -1)])
    check_against(hollow, truth, 1e-10)
    r, h, t = 0.04, 0.1, 0.004

    def rod(radius: float, height: float, z: float, sign: int):
        m = sign * np.pi * radius**2 * height
        side = m * (3 * radius**2 + height**2) / 12
        return m, np.array([0, 0, z]), np.diag([side, side, m * radius**2 / 2])

    truth = combine([rod(r, h, h / 2, 1), rod(r - t, h - t, t + (h - t) / 2, -1)])
    check_against(cup(r, h, t), truth, 2e-3)


def check_against(body: Manifold, truth: tuple, tolerance: float) -> None:
    mass, com, tensor = truth
    got = inertia.mass_properties(mesh_of(body), 1.0)
    assert got.mass == pytest.approx(mass, rel=tolerance)
    assert got.com == pytest.approx(com, abs=tolerance)
    assert got.inertia == pytest.approx(tensor, abs=tolerance * np.linalg.norm(tensor))


def test_off_diagonal_is_minus_the_product_integral() -> None:
    """A body stretched along x = y has int xy > 0, so Ixy must be negative (URDF's meaning)."""
    turn = np.array([[1, -1, 0], [1, 1, 0], [0, 0, np.sqrt(2)]]) / np.sqrt(2)
    long = mesh_of(box(2, 0.1, 0.1))
    got = inertia.mass_properties(Mesh(long.vertices @ turn.T, long.faces), 1.0).inertia
    assert got[0, 1] == pytest.approx(-(0.02 / 12) * (4 - 0.01) / 2, rel=1e-9)


def test_mass_properties_agree_with_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    mesh = mesh_of(table())
    got = inertia.mass_properties(mesh, 500.0)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="m" inertia="exact" vertex="{flat(mesh.vertices)}"
        face="{flat(mesh.faces)}"/></asset><worldbody><body><freejoint/>
        <geom type="mesh" mesh="m" density="500"/></body></worldbody></mujoco>"""
    )
    assert model.body_mass[1] == pytest.approx(got.mass, rel=1e-5)
    assert model.body_ipos[1] == pytest.approx(got.com, abs=1e-6)
    assert np.sort(model.body_inertia[1]) == pytest.approx(
        np.linalg.eigvalsh(got.inertia), rel=1e-4
    )


def flat(array: np.ndarray) -> str:
    return " ".join(f"{v:.9g}" for v in np.ravel(array))


def test_scale_laws() -> None:
    """T15: mass goes with s^3 and inertia with s^5 at one density; s^2 at one mass."""
    mesh = mesh_of(chair())
    small, large = (inertia.mass_properties(mesh.moved(s, np.zeros(3)), 650.0) for s in (1.0, 1.7))
    assert large.mass == pytest.approx(small.mass * 1.7**3, rel=1e-12)
    assert large.com == pytest.approx(small.com * 1.7, rel=1e-9, abs=1e-12)
    assert large.inertia == pytest.approx(small.inertia * 1.7**5, rel=1e-9, abs=1e-12)
    kind = Estimate("chair", "user")
    config = PhysicsConfig(mass=5.0)
    one, two = (rigid_body(mesh.moved(s, np.zeros(3)), NONE, kind, config).body for s in (1.0, 1.7))
    assert two.inertia_kg_m2 == pytest.approx(one.inertia_kg_m2 * 1.7**2, rel=1e-9, abs=1e-12)


def test_shell_of_sphere_box_and_open_tube() -> None:
    r, t = 0.3, 1e-3
    sphere = inertia.shell_properties(mesh_of(Manifold.sphere(r, FINE)), t, 1000.0)
    assert sphere.mass == pytest.approx(4 * np.pi * r * r * t * 1000, rel=1e-3)
    assert sphere.inertia == pytest.approx(
        2 / 3 * sphere.mass * r * r * np.eye(3), rel=1e-3, abs=1e-4
    )
    cube = inertia.shell_properties(mesh_of(box(1, 1, 1).translate([5, 6, 7])), t, 1000.0)
    assert cube.mass == pytest.approx(6.0, rel=1e-12)
    assert cube.com == pytest.approx([5, 6, 7], abs=1e-9)
    assert cube.inertia == pytest.approx(5 / 18 * 6.0 * np.eye(3), abs=1e-9)
    rod = mesh_of(Manifold.cylinder(0.5, r, r, FINE, True))
    normals = np.cross(*(np.diff(rod.vertices[rod.faces], axis=1).transpose(1, 0, 2)))
    tube = Mesh(rod.vertices, rod.faces[np.abs(normals[:, 2]) < 1e-9])  # no lids: an open mesh
    got = inertia.shell_properties(tube, t, 1000.0)
    assert got.inertia[2, 2] == pytest.approx(got.mass * r * r, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: Mesh(m.vertices, m.faces[:, ::-1]), "wound"),
        (lambda m: Mesh(m.vertices * [1, 1, 0], m.faces), "volume 0"),
        (lambda m: Mesh(m.vertices * np.nan, m.faces), "NaN"),
        (lambda m: Mesh(m.vertices, m.faces[:0]), "without faces"),
    ],
)
def test_mass_properties_refuse_what_is_no_solid(change, words: str) -> None:
    with pytest.raises(StageError, match=words):
        inertia.mass_properties(change(mesh_of(box(1, 1, 1))), 1.0)


# ---------------------------------------------------------------- validity


@pytest.mark.parametrize(
    ("mass", "tensor", "words"),
    [
        (1.0, np.diag([1.486e-6, 2e-7, 8.31e-7]), r"A \+ B >= C"),
        (1.0, np.diag([-1.0, 2.0, 2.0]), "all > 0"),
        (1.0, np.zeros((3, 3)), "all > 0"),
        (1.0, np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1.0]]), "symmetric"),
        (1.0, np.diag([1.0, np.nan, 1.0]), "finite"),
        (0.0, np.eye(3), "mass: got 0.0"),
        (-2.0, np.eye(3), "mass: got -2.0"),
        (float("nan"), np.eye(3), "mass: got nan"),
    ],
)
def test_invalid_inertia_is_refused(mass: float, tensor: np.ndarray, words: str) -> None:
    with pytest.raises(StageError, match=words):
        inertia.check_inertia(mass, tensor)


@pytest.mark.parametrize("seed", range(5))
def test_projection_gives_the_nearest_valid_tensor(seed: int) -> None:
    """T13, in turned axes; no valid tensor with the same axes may be nearer."""
    turn = rotation(seed)
    moments = np.array([2e-7, 8.31e-7, 1.486e-6])
    broken = inertia.rotate_inertia(np.diag(moments), turn)
    fixed = inertia.nearest_valid_inertia(broken)
    inertia.check_inertia(1.0, fixed.inertia)
    distance = np.linalg.norm(fixed.inertia - broken)
    assert distance == pytest.approx((1.486e-6 - 1.031e-6) / np.sqrt(3), rel=1e-4)
    assert fixed.change == pytest.approx(distance / np.linalg.norm(broken), rel=1e-9)
    rng = np.random.default_rng(seed)
    for _ in range(200):
        other = np.sort(moments + rng.normal(size=3) * 3e-7)
        if other[0] > 0 and other[0] + other[1] >= other[2]:
            assert np.linalg.norm(other - moments) > distance * (1 - 1e-4)


def test_projection_leaves_valid_tensors_alone_and_refuses_hopeless_ones() -> None:
    good = inertia.rotate_inertia(np.diag([1.0, 1.5, 2.0]), rotation(3))
    assert inertia.nearest_valid_inertia(good).change < 1e-15
    with pytest.raises(StageError, match="at least one > 0"):
        inertia.nearest_valid_inertia(np.zeros((3, 3)))


def test_engine_minimum_is_what_mujoco_accepts() -> None:
    mujoco = pytest.importorskip("mujoco")
    tiny = np.diag([9e-15, 9e-15, 9e-15])
    raised = inertia.raise_to_engine_minimum(1e-8, tiny)
    assert raised.change == pytest.approx(11 / 9)

    def load(tensor: np.ndarray):
        text = " ".join(f"{v:.9e}" for v in np.diag(tensor))
        return mujoco.MjModel.from_xml_string(
            f"""<mujoco><worldbody><body><freejoint/><geom size="1" mass="0"/><inertial pos="0 0 0"
            mass="1e-8" fullinertia="{text} 0 0 0"/></body></worldbody></mujoco>"""
        )

    with pytest.raises(ValueError, match="positive eigenvalues"):
        load(tiny)
    assert load(raised.inertia).body_mass[1] == 1e-8
    with pytest.raises(StageError, match="MuJoCo refuses less"):
        inertia.raise_to_engine_minimum(1e-16, np.eye(3))


# ---------------------------------------------------------------- tables


def test_tables_are_consistent() -> None:
    rows = materials.materials()
    kinds = materials.categories()
    assert len(rows) >= 20 and "unknown" in kinds
    for row in rows.values():
        assert row.metallic in (0.0, 1.0)
        assert (row.metallic == 1.0) == (row.name in METALS), row.name
    for kind in kinds.values():
        assert kind.material in rows
    assert materials.category("cup") is materials.category("mug")
    assert materials.material("steel").density == 7850


METALS = {"steel", "stainless", "cast_iron", "aluminium", "brass", "copper"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wood: {densty: 500}", "unknown key 'densty'. Did you mean 'density'"),
        ("wood: 3", "wanted a mapping"),
        (
            "wood: {density: 7.85, friction: 0.4, rolling: 0, restitution: 0, roughness: 0.5,"
            " metallic: 2, wall: 0.1, source: x}",
            "metallic is 2; wanted a number in",
        ),
        ("wood: {density: 500}", "missing friction, metallic"),
    ],
)
def test_bad_material_tables_are_refused(tmp_path, text: str, words: str) -> None:
    path = tmp_path / "materials.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        materials.read_materials(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("build: solid", "build: massive", "wanted one of solid, outer, shell, hollow"),
        ("[0.5, 0.4, 0.6]", "[0.3, 0.4, 0.6]", "low <= median <= high"),
        ("material: steel", "material: stel", "Did you mean 'steel'"),
        ("unknown:", "thing:", "no row 'unknown'"),
    ],
)
def test_bad_category_tables_are_refused(tmp_path, old: str, new: str, words: str) -> None:
    text = textwrap.dedent("""
        unknown: {longest: [0.5, 0.4, 0.6], material: steel, build: solid, fill: [1, 1, 1],
          source: x}
        """)
    path = tmp_path / "categories.yaml"
    path.write_text(text)
    assert materials.read_categories(path, frozenset({"steel"}))
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=words):
        materials.read_categories(path, frozenset({"steel"}))


def test_misspelt_names_point_to_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'aluminium'"):
        materials.material("aluminum")
    with pytest.raises(ConfigError, match="Did you mean 'bookcase'"):
        materials.category("bookcas")


# ---------------------------------------------------------------- size


def test_metric_puts_the_foot_at_the_origin_and_the_user_wins() -> None:
    mesh = mesh_of(box(1.9, 0.8, 0.475).translate([0.3, -2.0, 5.0]))
    size = Estimate(1.2, "estimate", "model", 0.9, 1.5)
    scaled, found = metric(mesh, size, PhysicsConfig())
    assert scaled.extents == pytest.approx([1.2, 1.2 * 0.8 / 1.9, 0.3])
    low, high = scaled.bounds
    assert [*(low + high)[:2] / 2, low[2]] == pytest.approx([0, 0, 0], abs=1e-12)
    assert found["size_m"] is size
    assert (found["height_m"].value, found["height_m"].high) == pytest.approx((0.3, 0.375))
    scaled, found = metric(mesh, size, PhysicsConfig(height=0.5))
    assert scaled.extents[2] == pytest.approx(0.5)
    assert (found["size_m"].value, found["size_m"].source) == (pytest.approx(2.0), "user")
    scaled, found = metric(mesh, size, PhysicsConfig(length=3.0))
    assert scaled.extents.max() == pytest.approx(3.0)
    scaled, _ = metric(mesh, size, PhysicsConfig(length=2.0, height=0.5))
    assert scaled.extents.max() == pytest.approx(2.0)


def test_metric_takes_the_category_where_nothing_is_known() -> None:
    _, found = metric(
        mesh_of(cup(1, 2, 0.1, 16)), NONE, PhysicsConfig(), Estimate("cup", "estimate")
    )
    row = materials.category("mug").longest
    assert (found["size_m"].value, found["size_m"].low, found["size_m"].high) == (
        row.median,
        row.low,
        row.high,
    )
    assert found["size_m"].source == "prior" and "mug" in found["size_m"].note


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (PhysicsConfig(height=1.0, length=3.0), "height is 0.5 of its longest side"),
        (PhysicsConfig(height=-1.0), "--height: got -1.0"),
        (PhysicsConfig(length=float("nan")), "--length: got nan"),
    ],
)
def test_measures_that_cannot_be_true(config: PhysicsConfig, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        metric(mesh_of(box(2, 1, 1)), NONE, config)


@pytest.mark.parametrize("size", [5e-5, 120.0, float("nan"), 0.0, -1.0])
def test_sizes_out_of_range_name_the_remedy(size: float) -> None:
    with pytest.raises(StageError, match="--height or --length"):
        metric(mesh_of(box(2, 1, 1)), Estimate(size, "mesh"), PhysicsConfig())


# ---------------------------------------------------------------- rigid body


def test_mass_of_a_mug_does_not_depend_on_whether_the_cavity_is_modelled() -> None:
    """Truth: 2 pi r h t + pi r^2 t of stoneware; a lump with the same outside weighs the same."""
    r, h, t = 0.04, 0.1, 0.0045
    kind = Estimate("mug", "estimate", "model")
    true = 2200 * np.pi * (r * r * h - (r - t) ** 2 * (h - t))
    lump = mesh_of(Manifold.cylinder(h, r, r, 64))
    masses = []
    for mesh in (mesh_of(cup(r, h, t, 64)), lump):
        result = rigid_body(mesh, NONE, kind, PhysicsConfig())
        masses.append(result.body.mass_kg)
        mass = result.estimates["mass_kg"]
        assert mass.low <= mass.value <= mass.high and mass.source == "estimate"
        assert "ceramic" in mass.note and "2200" in mass.note
        assert result.estimates["material"].source == "prior"
    assert masses == pytest.approx([true, true], rel=0.15)
    assert masses[1] < 0.5 * 2200 * inertia.mass_properties(lump, 1.0).mass


def test_chair_is_lighter_than_massive_wood_and_says_why() -> None:
    mesh = mesh_of(chair())
    result = rigid_body(mesh, NONE, Estimate("chair", "estimate"), PhysicsConfig())
    volume = inertia.mass_properties(mesh, 1.0).mass
    assert result.body.mass_kg == pytest.approx(700 * 0.5 * volume, rel=1e-9)
    assert result.estimates["fill"].value == pytest.approx(0.5)
    assert "0.5 of the solid" in result.estimates["mass_kg"].note
    solid = inertia.mass_properties(mesh, 350.0)
    assert result.body.inertia_kg_m2 == pytest.approx(solid.inertia, rel=1e-9, abs=1e-12)
    assert result.body.com_m == pytest.approx(solid.com)
    assert not result.fallbacks
    json.dumps({k: v.value for k, v in result.estimates.items()})


def test_mass_from_the_photo_is_density_times_hull_and_follows_the_users_material() -> None:
    """Truth: two cubes of 1 dm3, 1 dm apart and joined by a rod, have a hull of 3 dm3."""
    far = box(0.1, 0.1, 0.1).translate((0.2, 0, 0))
    mesh = mesh_of(box(0.1, 0.1, 0.1) + far + box(0.3, 0.01, 0.01).translate((0.1, 0, 0)))
    wood, kind = Estimate("wood_hard", "estimate"), Estimate("toy", "estimate")
    density = Estimate(200.0, "estimate", "told", 150.0, 260.0)

    def mass(config: PhysicsConfig, density: Estimate = density) -> Estimate:
        return rigid_body(mesh, wood, kind, config, density=density).estimates["mass_kg"]

    told = mass(PhysicsConfig())
    assert (told.value, told.low, told.high) == pytest.approx((0.6, 0.45, 0.78))
    assert told.source == "estimate" and "told" in told.note and "wood_hard" in told.note
    iron = mass(PhysicsConfig(material="steel"))
    wood_row, steel = materials.material("wood_hard"), materials.material("steel")
    assert iron.value == pytest.approx(0.6 * steel.density / wood_row.density)
    massive = mass(PhysicsConfig(), replace(density, value=2000.0, high=None))
    volume = inertia.mass_properties(mesh, 1.0).mass
    assert massive.value == pytest.approx(wood_row.density * volume)  # no more than all of it
    assert "all of the solid" in massive.note
    assert mass(PhysicsConfig(mass=1.5)).value == 1.5


def test_user_mass_and_material_win() -> None:
    mesh = mesh_of(box(0.1, 0.1, 0.1))
    config = PhysicsConfig(mass=0.5, material="rubber")
    wood = Estimate("wood_hard", "estimate")
    result = rigid_body(mesh, wood, Estimate("toy", "estimate"), config)
    assert result.body.mass_kg == 0.5
    assert result.body.inertia_kg_m2 == pytest.approx(np.eye(3) * 0.5 * 0.01 / 6, abs=1e-12)
    assert result.body.friction == materials.material("rubber").friction
    assert {result.estimates[k].source for k in ("mass_kg", "material")} == {"user"}
    result = rigid_body(mesh, wood, Estimate("toy", "estimate"), PhysicsConfig())
    assert result.estimates["material"] is wood
    assert result.estimates["density_kg_m3"].value == 700


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (PhysicsConfig(mass=0.0), "--mass: got 0.0"),
        (PhysicsConfig(mass=float("nan")), "--mass: got nan"),
        (PhysicsConfig(mass=-1.0), "--mass: got -1.0"),
        (PhysicsConfig(mass=350.0), "in kilograms"),
        (PhysicsConfig(mass=1e-4), "in kilograms"),
        (PhysicsConfig(material="alumnium"), "Did you mean 'aluminium'"),
    ],
)
def test_user_values_that_cannot_be_true(config: PhysicsConfig, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        rigid_body(mesh_of(box(0.1, 0.1, 0.1)), NONE, NONE, config)


def test_unknown_words_of_a_model_are_recorded() -> None:
    mesh = mesh_of(box(0.1, 0.1, 0.1))
    result = rigid_body(
        mesh, Estimate("unobtainium", "estimate"), Estimate("zzz", "estimate"), PhysicsConfig()
    )
    assert [f.stage for f in result.fallbacks] == ["physics.body"] * 2
    assert "unobtainium" in result.fallbacks[1].what
    assert result.estimates["material"].value == materials.category("unknown").material


def test_every_category_gives_a_mass_with_an_interval_that_engines_accept() -> None:
    for kind in materials.categories().values():
        mesh = mesh_of(box(1, 0.6, 0.3)).moved(kind.longest.median, np.zeros(3))
        result = rigid_body(mesh, NONE, Estimate(kind.name, "estimate"), PhysicsConfig())
        mass = result.estimates["mass_kg"]
        assert 1e-3 < mass.low <= mass.value <= mass.high < 1000, kind.name
        volume = inertia.mass_properties(mesh, 1.0).mass
        row = materials.material(kind.material)
        assert material_volume(mesh, volume, row, kind).median <= volume * max(1, kind.fill.median)


@pytest.mark.parametrize(
    ("thick", "share"),
    [
        (0.3, 0.3),  # the usual share of what nothing is known of
        (0.004, 2 * 2.5e-3 / 3 / 0.004),  # a third of the usual wall on both faces
        (0.0015, 1.0),  # too thin to be hollow
    ],
)
def test_an_unknown_thing_is_no_hollower_than_its_walls_allow(thick: float, share: float) -> None:
    mesh = mesh_of(box(10.0, 10.0, thick))
    result = rigid_body(mesh, NONE, NONE, PhysicsConfig(material="plastic_abs"))
    mass = result.estimates["mass_kg"]
    massive = 1050 * 100.0 * thick
    assert mass.value == pytest.approx(share * massive, rel=0.02)
    least = 0.1 if thick > 0.1 else share
    assert mass.low == pytest.approx(least * massive, rel=0.02)
    assert mass.high == pytest.approx(massive)
    assert ("wall" in mass.note) == (thick < 0.1)


@pytest.mark.parametrize("size", [1e-4, 1e-3, 50.0])
def test_tiny_and_huge_objects_load_in_both_engines(size: float) -> None:
    """T9: 0.1 mm and 50 m either work in both engines or say why; these work."""
    mesh, _ = metric(mesh_of(box(1, 0.7, 0.5)), Estimate(size, "mesh"), PhysicsConfig())
    mass = 315 * 0.35 * size**3  # at 1 mm the moments are 0.7e-14 kg m2
    result = rigid_body(mesh, NONE, NONE, PhysicsConfig(mass=mass))
    inertia.check_inertia(result.body.mass_kg, result.body.inertia_kg_m2)
    raised = any("MuJoCo refuses" in f.what for f in result.fallbacks)
    assert raised == (size <= 1e-3)
    collision = decompose(mesh, PhysicsConfig(), 0)
    assert collision.volume_ratio == pytest.approx(1.0)
    engines_accept(collision.hulls, result.body)


# ---------------------------------------------------------------- hulls


@pytest.fixture(scope="module")
def shapes() -> dict[str, SimpleNamespace]:
    """Decompose each shape once."""
    bodies = {
        "torus": ring(0.1, 0.03, 32, 16),
        "cup": cup(0.04, 0.1, 0.006, 32),
        "table": table(),
        "chair": chair(),
        "ell": box(1, 1, 0.5) - box(0.8, 0.8, 1).translate([0.2, 0.2, 0]),
    }
    found = {}
    for name, body in bodies.items():
        mesh = mesh_of(body)
        collision = decompose(mesh, PhysicsConfig(), 0)
        found[name] = SimpleNamespace(mesh=mesh, body=body, collision=collision)
    return found


def clearance(hulls: tuple[Mesh, ...], point: np.ndarray) -> float:
    """Return a lower bound of the distance of a point (3,) to the hulls (exact above a face)."""
    distances = []
    for hull in hulls:
        corners = hull.vertices[hull.faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        distances.append(np.einsum("fi,fi->f", normal, point - corners[:, 0]).max())
    return min(distances)


def check_hull(hull: Mesh, max_vertices: int) -> None:
    """Check that a hull is closed, convex, outward, thick enough and within the cap."""
    assert 4 <= len(hull.vertices) <= max_vertices
    assert set(hull.faces.ravel()) == set(range(len(hull.vertices)))
    edges = np.concatenate([hull.faces[:, [0, 1]], hull.faces[:, [1, 2]], hull.faces[:, [2, 0]]])
    assert {tuple(e) for e in edges} == {tuple(e[::-1]) for e in edges}
    assert len({tuple(e) for e in edges}) == len(edges)
    corners = hull.vertices[hull.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = hull.extents.max()
    heights = np.einsum("fi,fvi->fv", normal, hull.vertices[None] - corners[:, :1])
    scale = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12 * size**2)
    assert (heights / scale).max() < 1e-6 * size
    assert inertia.mass_properties(hull, 1.0).mass > 0
    centred = hull.vertices - hull.vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    assert np.ptp(centred @ axes.T, axis=0).min() > 0.5 * MINIMUM_THICKNESS * size


def engines_accept(hulls: tuple[Mesh, ...], body=None) -> None:
    """Load hulls as one body in MuJoCo and in PyBullet."""
    mujoco = pytest.importorskip("mujoco")
    pybullet = pytest.importorskip("pybullet")
    model = mujoco.MjModel.from_xml_string(scene(hulls, body=body))
    assert model.ngeom == len(hulls)
    if body is not None:
        assert model.body_mass[1] == pytest.approx(body.mass_kg)
        moments = np.linalg.eigvalsh(body.inertia_kg_m2)
        assert np.sort(model.body_inertia[1]) == pytest.approx(moments, rel=1e-6)
    client = pybullet.connect(pybullet.DIRECT)
    try:
        for hull in hulls:
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_MESH, vertices=hull.vertices.tolist(), physicsClientId=client
            )
            assert shape >= 0
    finally:
        pybullet.disconnect(client)


def scene(hulls: tuple[Mesh, ...], ball: tuple[float, float] | None = None, body=None) -> str:
    """MJCF of the hulls, fixed where a ball (radius, height) falls, else free."""
    assets = "".join(
        f'<mesh name="h{i}" vertex="{flat(h.vertices)}"/>' for i, h in enumerate(hulls)
    )
    geoms = "".join(f'<geom type="mesh" mesh="h{i}"/>' for i in range(len(hulls)))
    inertial = ""
    if body is not None:
        i = body.inertia_kg_m2
        full = flat([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
        inertial = (
            f'<inertial pos="{flat(body.com_m)}" mass="{body.mass_kg:.12g}" fullinertia="{full}"/>'
        )
    joint = "<freejoint/>" if ball is None else ""
    falling = ""
    if ball is not None:
        falling = (
            f'<body pos="0 0 {ball[1]}"><freejoint/>'
            f'<geom type="sphere" size="{ball[0]}" friction="0.1"/></body>'
        )
    return (
        f'<mujoco><option timestep="0.001"/><asset>{assets}</asset><worldbody>'
        f"<body>{joint}{inertial}{geoms}</body>{falling}</worldbody></mujoco>"
    )


def drop_mujoco(hulls: tuple[Mesh, ...], radius: float, height: float, seconds: float) -> float:
    """Return the height of the ball's centre in the end."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(scene(hulls, (radius, height)))
    data = mujoco.MjData(model)
    while data.time < seconds:
        mujoco.mj_step(model, data)
    return float(data.qpos[2])


def drop_bullet(hulls: tuple[Mesh, ...], radius: float, height: float, seconds: float) -> float:
    """Return the height of the ball's centre in the end."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        at = {"physicsClientId": client}
        pybullet.setGravity(0, 0, -9.81, **at)
        pybullet.setTimeStep(0.001, **at)
        for hull in hulls:
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_MESH, vertices=hull.vertices.tolist(), **at
            )
            pybullet.createMultiBody(0, shape, **at)
            pybullet.changeDynamics(pybullet.getNumBodies(**at) - 1, -1, collisionMargin=1e-4, **at)
        shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=radius, **at)
        ball = pybullet.createMultiBody(0.1, shape, basePosition=[0, 0, height], **at)
        for _ in range(int(seconds / 0.001)):
            pybullet.stepSimulation(**at)
        return float(pybullet.getBasePositionAndOrientation(ball, **at)[0][2])
    finally:
        pybullet.disconnect(client)


@pytest.mark.parametrize(
    ("name", "most_hulls", "ratio"),
    [
        ("torus", 16, 0.1),
        ("cup", 32, 0.25),
        ("table", 8, 0.1),
        ("chair", 12, 0.1),
        ("ell", 3, 0.02),
    ],
)
def test_hulls_are_valid_few_and_near(shapes, name: str, most_hulls: int, ratio: float) -> None:
    collision = shapes[name].collision
    assert 1 < len(collision.hulls) <= most_hulls
    assert collision.volume_ratio == pytest.approx(1.0, abs=ratio)
    assert not collision.fallbacks
    assert collision.measures["cavity_filled_share"] <= 0.1
    for i, hull in enumerate(collision.hulls):
        if collision.primitive(i) is None:
            check_hull(hull, PhysicsConfig().max_hull_vertices)
    engines_accept(collision.hulls)
    low, high = shapes[name].mesh.bounds
    slack = 0.01 * shapes[name].mesh.extents.max()
    points = np.concatenate([h.vertices for h in collision.hulls])
    assert (points > low - slack).all() and (points < high + slack).all()
    assert (points.min(0) < low + slack).all() and (points.max(0) > high - slack).all()


def test_volume_ratio_is_the_union_over_the_solid(shapes) -> None:
    """Truth by points: share of random points in any hull over share in the mesh."""
    shape = shapes["torus"]
    low, high = shape.mesh.bounds
    points = np.random.default_rng(0).uniform(low, high, (20_000, 3))
    radial = np.hypot(points[:, 0], points[:, 1]) - 0.1
    inside_torus = (np.hypot(radial, points[:, 2]) < 0.03).mean()
    inside = np.zeros(len(points), bool)
    for hull in shape.collision.hulls:
        corners = hull.vertices[hull.faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        offset = np.einsum("fi,fi->f", normal, corners[:, 0])
        inside |= (points @ normal.T <= offset).all(axis=1)
    # The mesh itself is a polyhedron inside the torus: 32 x 16 facets lose about 3 %.
    facets = shape.body.volume() / (2 * np.pi**2 * 0.1 * 0.03**2)
    assert inside.mean() / (inside_torus * facets) == pytest.approx(
        shape.collision.volume_ratio, abs=0.04
    )


def test_ball_of_0_8_passes_the_hole_of_a_torus(shapes) -> None:
    hulls, radius = shapes["torus"].collision.hulls, 0.8 * 0.07
    axis = np.linspace(-0.12, 0.12, 25)
    assert min(clearance(hulls, np.array([0, 0, z])) for z in axis) >= radius
    assert drop_mujoco(hulls, radius, 0.15, 0.5) < -0.2
    assert drop_bullet(hulls, radius, 0.15, 0.5) < -0.2


def test_ball_of_0_8_reaches_the_bottom_of_a_cup(shapes) -> None:
    hulls, radius = shapes["cup"].collision.hulls, 0.8 * 0.034
    for end in (drop_mujoco(hulls, radius, 0.14, 1.0), drop_bullet(hulls, radius, 0.14, 1.0)):
        assert end == pytest.approx(0.006 + radius, abs=0.003)


def test_space_under_table_and_chair_stays_open(shapes) -> None:
    assert clearance(shapes["table"].collision.hulls, np.array([0, 0, 0.36])) > 0.25
    assert clearance(shapes["chair"].collision.hulls, np.array([0, 0, 0.22])) > 0.12
    assert clearance(shapes["chair"].collision.hulls, np.array([0.1, 0, 0.75])) > 0.2


def test_same_bytes_twice(shapes) -> None:
    shape = shapes["torus"]
    again = decompose(shape.mesh, PhysicsConfig(), 0)
    for one, two in zip(shape.collision.hulls, again.hulls, strict=True):
        assert one.vertices.tobytes() == two.vertices.tobytes()
        assert one.faces.tobytes() == two.faces.tobytes()
    assert again.volume_ratio == shape.collision.volume_ratio


def test_caps_are_respected() -> None:
    config = PhysicsConfig(max_hulls=4, max_hull_vertices=16, hull_threshold=0.2)
    collision = decompose(mesh_of(ring(0.1, 0.03, 32, 16)), config, 0)
    assert 1 < len(collision.hulls) <= 4
    for hull in collision.hulls:
        check_hull(hull, 16)
    # Four hulls can't keep a ring's hole; that must not go unsaid.
    assert any("of the open space" in f.what for f in collision.fallbacks)


def test_convex_bodies_become_one_hull_that_never_grows() -> None:
    sphere = mesh_of(Manifold.sphere(0.5, 64))
    collision = decompose(sphere, PhysicsConfig(primitive_tolerance=0.0), 0)
    assert len(collision.hulls) == 1 and not collision.fallbacks
    hull = collision.hulls[0]
    check_hull(hull, 60)
    assert np.linalg.norm(hull.vertices, axis=1).max() <= 0.5 + 1e-12
    assert 0.85 < collision.volume_ratio <= 1.0
    cube = decompose(mesh_of(box(1, 2, 3)), PhysicsConfig(), 0)
    assert (len(cube.hulls), len(cube.hulls[0].vertices)) == (1, 8)
    assert cube.volume_ratio == pytest.approx(1.0, rel=1e-6)


def test_flat_points_get_the_thickness_engines_need() -> None:
    """T8: a plate of 1e-7 must not crash qhull."""
    plate = np.array([[x, y, z] for x in (0, 1) for y in (0, 0.5) for z in (0, 1e-7)], float)
    for points in (plate, plate[::2] * [1, 1, 0], plate @ rotation(4).T, np.eye(3)[:2]):
        hull, thickened = convex_hull(points, 60)
        assert thickened
        check_hull(hull, 60)
        engines_accept((hull,))
    with pytest.raises(StageError, match="1 distinct point"):
        convex_hull(np.zeros((5, 3)), 60)


def test_time_limit_is_an_error_that_names_the_options() -> None:
    config = PhysicsConfig(hull_timeout_s=0.03)
    with pytest.raises(StageError, match=r"took longer than .* Raise physics.hull_timeout_s"):
        decompose(mesh_of(table()), config, 0)


def test_failed_run_is_repeated_coarser_and_recorded(monkeypatch) -> None:
    """The first run meets a crashing process; the second must do it, and the result must say so."""
    true_run, calls = hulls_module.run_limited, []

    def run(command, data, seconds):
        calls.append(command)
        if len(calls) == 1:
            command = [sys.executable, "-c", "import os; os._exit(139)"]
        return true_run(command, data, seconds)

    monkeypatch.setattr(hulls_module, "run_limited", run)
    collision = decompose(mesh_of(table()), PhysicsConfig(), 0)
    assert len(calls) == 2 and len(collision.hulls) > 1
    assert "threshold 0.05 ended with status 139" in collision.fallbacks[0].what


def without_coacd(monkeypatch, share: float) -> list[str]:
    """Let CoACD run out of time, but for runs of this share of the time; return what is run."""
    true_run, calls = hulls_module._run_worker, []

    def run(mesh, options, limit_s, method):
        calls.append(method)
        if method == "coacd" and limit_s != pytest.approx(share * 90):
            return [], "took longer than 1 s"
        return true_run(mesh, options, limit_s, method)

    monkeypatch.setattr(hulls_module, "_run_worker", run)
    return calls


def test_where_coacd_takes_too_long_vhacd_keeps_the_space_under_a_table_open(monkeypatch) -> None:
    calls = without_coacd(monkeypatch, 0.0)
    one, two = (decompose(mesh_of(table()), PhysicsConfig(), 0) for _ in range(2))
    assert calls == ["coacd", "vhacd"] * 2
    assert one.fallbacks[0].what == "CoACD at threshold 0.05 took longer than 1 s"
    assert one.measures["cavity_filled_share"] < 0.05 and one.volume_ratio < 1.2
    for hull in one.hulls:
        check_hull(hull, 60)
    engines_accept(one.hulls)
    for a, b in zip(one.hulls, two.hulls, strict=True):
        assert a.vertices.tobytes() == b.vertices.tobytes()


def test_where_vhacd_closes_the_space_too_a_coarse_coacd_is_the_better(monkeypatch) -> None:
    calls = without_coacd(monkeypatch, 0.3)
    true_run = hulls_module._run_worker

    def run(mesh, options, limit_s, method):
        parts, problem = true_run(mesh, options, limit_s, method)
        return ([np.concatenate(parts)], "") if method == "vhacd" else (parts, problem)

    monkeypatch.setattr(hulls_module, "_run_worker", run)
    collision = decompose(mesh_of(table()), PhysicsConfig(), 0)
    assert calls == ["coacd", "vhacd", "coacd"]
    assert collision.measures["cavity_filled_share"] < 0.2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: replace(m, faces=m.faces[:-1]), "closed manifold"),
        (lambda m: replace(m, faces=m.faces[:, ::-1]), "outside"),
        (lambda m: replace(m, vertices=m.vertices * np.nan), "size nan"),
        (lambda m: m.moved(1e-6, np.zeros(3)), "MuJoCo refuses them"),
    ],
)
def test_bad_solids_are_refused(change, words: str) -> None:
    with pytest.raises(StageError, match=words):
        decompose(change(mesh_of(box(1, 1, 1))), PhysicsConfig(), 0)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_hull_vertices: got 3; wanted 8 to 255"):
        decompose(mesh_of(box(1, 1, 1)), PhysicsConfig(max_hull_vertices=3), 0)
