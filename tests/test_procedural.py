"""The procedural objects against closed forms, winding numbers and the weights of real things."""

import subprocess
import sys

import numpy as np
import pytest

from seed3d.data.procedural import CATEGORIES, DENSITY_KG_M3, RECIPES, SIZE_RANGE_M, make
from seed3d.data.procedural.shapes import Form, circle, lathe, rect, skin, spline, sweep, vessel
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, prism, torus

SEEDS = (0, 1)
MATERIALS = set(
    [
        "wood_soft",
        "wood_hard",
        "mdf",
        "plastic_abs",
        "plastic_pp",
        "rubber",
        "steel",
        "stainless",
        "aluminium",
        "brass",
        "glass",
        "ceramic",
        "porcelain",
        "stone",
        "cardboard",
        "paper",
        "leather",
        "fabric",
        "foam",
    ]
)


def recipe(category: str, seed: int):
    return RECIPES[category](np.random.default_rng([seed, *category.encode()]))


def is_closed(form: Form) -> bool:
    """Every directed edge once, and its reverse once."""
    tail, head = form.faces.ravel(), np.roll(form.faces, -1, 1).ravel()
    count = len(form.vertices)
    there, back = np.sort(tail * count + head), np.sort(head * count + tail)
    return bool((there == back).all() and (np.diff(there) > 0).all())


def areas(form: Form) -> np.ndarray:
    a, b, c = (form.vertices[form.faces[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def winding(form: Form, point: np.ndarray) -> float:
    """Winding number by solid angles (van Oosterom and Strackee 1983)."""
    a, b, c = (form.vertices[form.faces[:, k]] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(e, axis=1) for e in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    bottom = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return float(np.arctan2(top, bottom).sum() / (2 * np.pi))


@pytest.mark.parametrize("category", sorted(CATEGORIES))
def test_parts_are_closed_and_the_object_stands_in_the_world_frame(category):
    low_m, high_m = SIZE_RANGE_M[category]
    for seed in SEEDS:
        made, thing = recipe(category, seed), make(category, seed)
        assert all(is_closed(p.form) and p.form.volume > 0 for p in made.parts)
        assert min(areas(p.form).min() for p in made.parts) > 1e-14  # [m^2]: no slivers of nothing
        mesh = thing.surface.mesh
        low, high = mesh.bounds
        assert low[2] == pytest.approx(0, abs=1e-9)
        assert np.allclose(low[:2] + high[:2], 0, atol=1e-9)
        assert low_m <= mesh.extents.max() <= high_m
        assert 100 <= len(mesh.faces) <= 15000
        assert len(mesh.faces) == sum(len(p.form.faces) for p in made.parts)
        assert np.allclose(np.linalg.norm(thing.surface.normals, axis=1), 1, atol=1e-6)
        uv = thing.surface.corner_uv
        assert np.isfinite(uv).all()
        assert uv.min() >= -1e-9
        assert uv.max() <= 1 + 1e-9
        assert thing.material in MATERIALS
        assert thing.mass_kg == pytest.approx(sum(p.mass_kg for p in made.parts))
        assert thing.mass_kg > 0


def test_same_seed_same_bytes_other_seed_other_object():
    for category in ("mug", "toy_car", "chair", "food_box"):
        a, b, c = make(category, 5), make(category, 5), make(category, 6)
        assert a.surface.mesh.vertices.tobytes() == b.surface.mesh.vertices.tobytes()
        assert a.surface.corner_uv.tobytes() == b.surface.corner_uv.tobytes()
        assert a.surface.normals.tobytes() == b.surface.normals.tobytes()
        for p, q in zip(a.surface.materials, b.surface.materials, strict=True):
            assert p.base_color == q.base_color
            assert (p.base_color_texture is None) == (q.base_color_texture is None)
            if p.base_color_texture is not None:
                assert p.base_color_texture.tobytes() == q.base_color_texture.tobytes()
        assert a.mass_kg != c.mass_kg


def test_solids_have_their_closed_form_volumes():
    sections = 512
    share = np.sinc(2 / sections)  # area of a regular polygon over its circle's
    assert box(0.1, 0.2, 0.3).volume == pytest.approx(0.006)
    r, (a, b, c) = 0.02, (0.06, 0.16, 0.26)
    rounded = a * b * c + 2 * r * (a * b + b * c + c * a) + np.pi * r**2 * (a + b + c)
    rounded += 4 / 3 * np.pi * r**3
    assert box(0.1, 0.2, 0.3, r, steps=12).volume == pytest.approx(rounded, rel=2e-4)
    hole = circle(0.03, sections)[::-1]
    want = (0.2 * 0.1 - np.pi * 0.03**2 * share) * 0.05
    assert prism([rect(0.2, 0.1), hole], 0.05).volume == pytest.approx(want)
    want = np.pi * 0.04**2 * 0.1 * share
    assert cylinder(0.04, 0.1, 0, sections).volume == pytest.approx(want)
    want = 4 / 3 * np.pi * 0.02 * 0.03 * 0.04
    assert ellipsoid(0.02, 0.03, 0.04, 256, 128).volume == pytest.approx(want, rel=1e-3)
    want = 2 * np.pi**2 * 0.1 * 0.02**2
    assert torus(0.1, 0.02, 256, 128).volume == pytest.approx(want, rel=1e-3)
    ring = sweep(np.column_stack([circle(0.1, 256), np.zeros(256)]), 0.02, circle(1, 128), True)
    assert ring.volume == pytest.approx(want, rel=1e-3)
    pole = skin(
        np.stack([np.column_stack([rect(0.1, 0.1), np.zeros(4)]), np.tile([0, 0, 0.3], (4, 1))])
    )
    assert pole.volume == pytest.approx(0.1 * 0.1 * 0.3 / 3)


def test_vessel_is_the_wall_between_two_cylinders():
    radius, height, wall, base = 0.04, 0.1, 0.004, 0.01
    outer = np.column_stack([np.full(60, radius), np.linspace(0, height, 60)])
    form = vessel(outer, wall, base, sections=256)
    want = np.pi * (radius**2 * height - (radius - wall) ** 2 * (height - base))
    assert is_closed(form)
    assert form.volume == pytest.approx(want, rel=0.02)  # the rounded lip adds a little


def test_prints_face_the_front_and_read_left_to_right():
    form = lathe([(0, 0), (0.03, 0), (0.03, 0.1), (0, 0.1)])
    wall = np.abs(form.vertices[form.faces][..., 2].mean(1) - 0.05) < 0.04
    corner, uv = form.vertices[form.faces[wall]], form.uv[wall]
    front = corner[..., 0] > 0.029
    assert np.abs(uv[front][:, 0] - 0.5).max() < 0.1
    # seen from +X the image's right is +Y (conventions.camera_rotation), where u must be larger
    assert np.corrcoef(corner[front][:, 1], uv[front][:, 0])[0, 1] > 0.99
    assert np.corrcoef(corner[..., 2].ravel(), uv[..., 1].ravel())[0, 1] > 0.99
    atlas = box(0.1, 0.2, 0.3, atlas=True)
    normal = np.cross(
        *(atlas.vertices[atlas.faces[:, k]] - atlas.vertices[atlas.faces[:, 0]] for k in (1, 2))
    )
    front = normal[:, 0] > 0.5 * np.abs(normal).max()
    assert front.sum() == 2
    assert atlas.uv[front].reshape(-1, 2).max(0) == pytest.approx([1 / 3, 1.0], abs=0.01)
    corner = atlas.vertices[atlas.faces[front]]
    assert np.corrcoef(corner[..., 1].ravel(), atlas.uv[front][..., 0].ravel())[0, 1] > 0.99


@pytest.mark.parametrize(
    "category", ["mug", "bowl", "drinking_glass", "ramekin", "jug", "vase", "basket"]
)
def test_open_vessels_are_hollow(category):
    for seed in SEEDS:
        made = recipe(category, seed)
        body = made.parts[0].form
        height = body.vertices[:, 2].max()
        inside = np.array([0.0, 0.0, 0.6 * height])
        assert all(abs(winding(p.form, inside)) < 1e-6 for p in made.parts)
        floor = np.array([1e-4, 2e-4, 0.0])  # somewhere down the axis there is a solid floor
        levels = [
            winding(body, floor + np.array([0, 0, z])) for z in np.linspace(1e-4, 0.25 * height, 60)
        ]
        assert max(levels) == pytest.approx(1, abs=1e-6)


def test_masses_follow_from_geometry():
    made, thing = recipe("mug", 3), make("mug", 3)
    want = 0.0
    for part in made.parts:
        mesh = part.form
        a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
        want += np.linalg.det(np.stack([a, b, c], 1)).sum() / 6 * DENSITY_KG_M3[part.material]
    assert thing.mass_kg == pytest.approx(want, rel=1e-9)
    carton = make("food_box", 3)
    x, y, z = carton.surface.mesh.extents
    sheet = 2 * (x * y + y * z + z * x) * 0.0006 * 700  # 0.6 mm card of 700 kg/m^3
    assert carton.mass_kg == pytest.approx(sheet, rel=0.03)


WEIGHT_KG = {
    "mug": (0.15, 0.6), "wine_glass": (0.05, 0.3), "plate": (0.08, 1.1), "can": (0.008, 0.12),
    "bottle": (0.015, 0.9), "food_box": (0.005, 0.25), "carton": (0.01, 0.08), "hammer": (0.25, 2.0),
    "screwdriver": (0.03, 0.25), "spoon": (0.01, 0.3), "knife": (0.03, 0.3), "phone": (0.1, 1.1),
    "computer_mouse": (0.04, 0.2), "keyboard": (0.3, 1.8), "laptop": (0.9, 4.5),
    "banana": (0.05, 0.25), "apple": (0.06, 0.35), "shoe": (0.06, 1.0), "headphones": (0.08, 0.4),
    "chair": (2.0, 14.0), "table": (2.5, 60.0), "sofa": (25.0, 110.0), "wardrobe": (35.0, 160.0),
}  # fmt: skip
"""What such things weigh on a scale, empty; the generator's own ranges are not used here."""


@pytest.mark.parametrize("category", sorted(WEIGHT_KG))
def test_masses_are_those_of_real_things(category):
    low, high = WEIGHT_KG[category]
    for seed in range(6):
        assert low < recipe(category, seed).mass_kg < high


def test_fronts_follow_the_convention():
    for seed in range(4):
        mug = recipe("mug", seed)
        body, handle = (p.form.vertices[:, 1] for p in mug.parts)
        assert handle.max() > body.max() + 0.01
        assert handle.min() > 0
        pan = make("pan", seed).surface.mesh
        assert pan.extents[1] > 1.3 * pan.extents[0]
        for name in ("hammer", "screwdriver", "wrench", "spoon", "knife", "banana", "keyboard"):
            extents = make(name, seed).surface.mesh.extents
            assert extents.argmax() == 1, name
        for name in ("chair", "sofa", "armchair"):
            v = make(name, seed).surface.mesh.vertices
            assert v[v[:, 2] > 0.9 * v[:, 2].max(), 0].mean() < -0.1, name
        for name in ("bowl", "ball", "vase"):
            assert not make(name, seed).has_front


def test_printed_things_carry_textures_that_are_used():
    rng = np.random.default_rng(0)
    for category in (
        "food_box",
        "carton",
        "can",
        "tin",
        "book",
        "squeeze_bottle",
        "shampoo_bottle",
    ):
        surface = make(category, 2).surface
        printed = [k for k, m in enumerate(surface.materials) if m.base_color_texture is not None]
        assert printed, category
        for k in printed:
            image = surface.materials[k].base_color_texture
            assert image.dtype == np.uint8
            assert max(image.shape) <= 256
            corner = surface.corner_uv[surface.face_material == k]
            weights = rng.dirichlet(np.ones(3), (16, len(corner)))
            uv = np.einsum("sfk,fki->sfi", weights, corner).reshape(-1, 2)
            pixel = (uv * [image.shape[1] - 1, image.shape[0] - 1]).astype(int)
            seen = image[image.shape[0] - 1 - pixel[:, 1], pixel[:, 0]]
            assert len(np.unique(seen, axis=0)) >= 2, category
            assert np.ptp(uv, axis=0).min() > 0.3


def test_normals_are_smooth_on_curves_and_sharp_on_edges():
    ball = make("ball", 1).surface
    centre = ball.mesh.bounds.mean(0)
    radial = ball.mesh.vertices - centre
    radial /= np.linalg.norm(radial, axis=1, keepdims=True)
    assert (radial * ball.normals).sum(1).min() > 0.995
    frame = make("picture_frame", 1).surface
    assert len(frame.mesh.vertices) > sum(
        len(p.form.vertices) for p in recipe("picture_frame", 1).parts
    )
    a, b, c = (frame.mesh.vertices[frame.mesh.faces[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    agree = np.einsum("fi,fki->fk", flat, frame.normals[frame.mesh.faces])
    assert agree.min() > np.cos(np.radians(41))


def test_curves_pass_through_their_points():
    points = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [4.0, 4.0]])
    assert np.allclose(spline(points, 5)[::5], points)


def test_unknown_category_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"got 'mugg'; wanted one of .*\bmug\b"):
        make("mugg", 0)


def test_import_is_cheap():
    code = (
        "import sys, seed3d.data.procedural; "
        "print([m for m in ('torch', 'trimesh', 'scipy', 'PIL', 'manifold3d') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
