"""Renders against closed forms: projected spheres, known colours, energy, shadows."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from seed3d.conventions import linear_to_srgb, pixel_centers, srgb_to_linear
from seed3d.render.adaptive import CONTRAST, render_adaptive
from seed3d.render.cameras import framed_camera, orbit_camera
from seed3d.render.lighting import DirectionalLight, Lighting
from seed3d.render.raycast import MISS, Caster, gbuffer
from seed3d.render.shade import bilinear, render, sample_material, shade
from seed3d.types import Camera, Mesh, Surface, SurfaceMaterial


def plain(mesh: Mesh, material: SurfaceMaterial | None = None, smooth: bool = False) -> Surface:
    count = len(mesh.faces)
    normals = np.array(mesh.to_trimesh().vertex_normals) if smooth else None
    return Surface(
        mesh,
        np.zeros((count, 3, 2)),
        np.zeros(count, np.int64),
        (material or SurfaceMaterial(),),
        normals=normals,
    )


def sphere(radius: float = 0.9, subdivisions: int = 5) -> Mesh:
    import trimesh

    return Mesh.from_trimesh(trimesh.creation.icosphere(subdivisions, radius))


def box(extents: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Mesh:
    import trimesh

    return Mesh.from_trimesh(trimesh.creation.box(extents))


def quad(z: float = 0.0, half: float = 0.9) -> Mesh:
    xy = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    return Mesh(np.column_stack([xy, np.full(4, z)]), np.array([[0, 1, 2], [0, 2, 3]]))


def test_sphere_silhouette_area_is_that_of_its_tangent_cone():
    radius, distance, focal = 0.9, 4.0, 3.0
    camera = Camera(0.7, 0.3, distance, focal)
    mask = gbuffer(plain(sphere(radius)), camera, 512).mask
    edge = focal * radius / np.sqrt(distance**2 - radius**2)
    assert mask.sum() * (2 / 512) ** 2 == pytest.approx(np.pi * edge**2, rel=3e-3)


def test_sphere_depth_and_normals_match_the_closed_form():
    radius, camera = 0.9, Camera(-1.1, 0.5, 4.0, 3.0, 0.1, -0.05)
    buffer = gbuffer(plain(sphere(radius), smooth=True), camera, 128)
    uv, depth = camera.project(buffer.position.astype(float))
    centers = pixel_centers(128)
    expected = np.stack(np.meshgrid(centers, centers), axis=-1)
    inside = buffer.mask
    np.testing.assert_allclose(uv[inside], expected[inside], atol=1e-5)
    np.testing.assert_allclose(depth[inside], buffer.depth[inside], rtol=1e-5)
    distance = np.linalg.norm(buffer.position[inside], axis=-1)
    assert np.abs(distance - radius).max() < 2e-3  # chord error of the facets
    radial = buffer.position[inside] / distance[:, None]
    assert np.abs(buffer.normal[inside] - radial).max() < 0.02
    assert np.isinf(buffer.depth[~inside]).all() and (buffer.face[~inside] == MISS).all()


def test_buffers_agree_with_an_independent_ray_caster():
    import trimesh

    mesh = Mesh.from_trimesh(trimesh.creation.torus(0.6, 0.25, major_sections=40))
    camera = orbit_camera(0.4, 0.6)
    buffer = gbuffer(plain(mesh), camera, 24)
    centers = pixel_centers(24)
    u, v = np.meshgrid(centers, centers)
    rays = np.stack([u / camera.focal, v / camera.focal, np.ones_like(u)], -1) @ camera.rotation
    rays = rays.reshape(-1, 3)
    origins = np.broadcast_to(camera.position, rays.shape)
    face = mesh.to_trimesh().ray.intersects_first(origins, rays)
    assert (face.reshape(24, 24) == buffer.face).mean() > 0.99  # an edge may go either way


def test_both_sides_of_a_face_are_lit_alike():
    up, down = orbit_camera(0.3, 0.9), orbit_camera(0.3, -0.9)
    even = Lighting.ambient(0.5)
    pictures = [render(plain(quad()), camera, 32, even) for camera in (up, down)]
    assert pictures[0].rgb[16, 16] == pytest.approx(pictures[1].rgb[16, 16], abs=1e-3)
    assert (gbuffer(plain(quad()), down, 32).normal[16, 16] == [0, 0, -1]).all()


def test_matte_plane_has_its_closed_form_colour():
    color = (0.6, 0.3, 0.1)
    light = DirectionalLight(0.0, np.pi / 3, (0.5, 0.5, 0.5))
    rough = SurfaceMaterial(color, 0.0, 1.0)
    picture = render(
        plain(quad(), rough), Camera(0, 1.5, 4, 3), 32, Lighting((light,), (0,) * 3, (0,) * 3)
    )
    got = srgb_to_linear(picture.rgb[16, 16])
    matte = srgb_to_linear(np.array(color)) * 0.5 * np.sin(np.pi / 3)
    # glTF's Fresnel term takes 4 % off and adds a small, colourless rough lobe.
    assert got - got[2] == pytest.approx(0.96 * (matte - matte[2]), rel=0.01)
    assert 0.0 < (got - 0.96 * matte).max() < 0.01
    metal = render(
        plain(quad(), SurfaceMaterial(color, 1.0, 1.0)),
        Camera(0, 1.5, 4, 3),
        32,
        Lighting((light,), (0,) * 3, (0,) * 3),
    )
    assert not np.allclose(metal.rgb[16, 16], picture.rgb[16, 16], atol=0.02)


def test_a_smooth_metal_mirrors_the_sky_straight_up():
    mirror = SurfaceMaterial((1.0, 1.0, 1.0), 1.0, 0.0)
    sky = Lighting((), (0.5, 0.2, 0.1), (0, 0, 0))
    picture = render(plain(quad(), mirror), Camera(0, 1.5, 4, 3), 32, sky)
    assert srgb_to_linear(picture.rgb[16, 16]) == pytest.approx([0.5, 0.2, 0.1], rel=0.05)


def test_no_material_reflects_more_light_than_arrives():
    camera = orbit_camera(0.5, 0.4)
    for metallic in (0.0, 1.0):
        for roughness in (0.1, 0.5, 1.0):
            white = SurfaceMaterial((1.0, 1.0, 1.0), metallic, roughness)
            picture = render(plain(sphere(), white, True), camera, 48, Lighting.ambient(0.6))
            light = srgb_to_linear(picture.rgb[picture.alpha == 1])
            assert light.max() < 0.6 * 1.06, (metallic, roughness)


def test_a_roof_shadows_the_floor_and_only_with_shadows_on():
    roof, floor = quad(0.5, 0.3), quad(-0.5)
    mesh = Mesh(
        np.concatenate([floor.vertices, roof.vertices]),
        np.concatenate([floor.faces, roof.faces + 4]),
    )
    camera = Camera(0.0, 0.8, 4.0, 2.5)

    def at_floor_centre(shadows: bool) -> float:
        light = DirectionalLight(0, np.pi / 2, (1, 1, 1), shadows)
        surface = plain(mesh)
        buffer = gbuffer(surface, camera, 128)
        picture = render(surface, camera, 128, Lighting((light,), (0,) * 3, (0,) * 3), 1)
        under = (np.abs(buffer.position[..., :2]) < 0.25).all(-1) & (buffer.position[..., 2] < 0)
        assert under.sum() > 20
        return float(picture.rgb[under & buffer.mask].max())

    assert at_floor_centre(True) == 0.0
    assert at_floor_centre(False) > 0.5


def test_coverage_is_antialiased_and_colour_is_not_darkened_at_edges():
    white = SurfaceMaterial((0.5, 0.5, 0.5), 0.0, 1.0)
    picture = render(
        plain(sphere(), white), orbit_camera(0, 0), 64, Lighting.ambient(0.7), supersample=4
    )
    partial = (picture.alpha > 0) & (picture.alpha < 1)
    assert partial.sum() > 50
    area = gbuffer(plain(sphere()), orbit_camera(0, 0), 512).mask.mean()
    assert picture.alpha.mean() == pytest.approx(area, rel=0.01)
    inner = np.median(picture.rgb[picture.alpha == 1])
    assert np.abs(picture.rgb[partial] - inner).max() < 0.12
    assert (picture.over()[picture.alpha == 0] == 1).all()


def test_pixels_lit_once_equal_those_lit_sample_by_sample():
    import trimesh

    rng = np.random.default_rng(0)
    ball, bar = trimesh.creation.icosphere(4, 0.5), trimesh.creation.box((1.6, 0.2, 0.3))
    mesh = Mesh.from_trimesh(trimesh.util.concatenate([ball, bar.apply_translation((0, 0, 0.7))]))
    look = SurfaceMaterial(
        base_color_texture=rng.integers(0, 256, (64, 64, 3), dtype=np.uint8), roughness=0.4
    )
    surface = dataclasses.replace(
        plain(mesh, look, smooth=True), corner_uv=rng.random((len(mesh.faces), 3, 2))
    )
    camera, light, caster = orbit_camera(0.5, 0.4), Lighting.studio(0.5), Caster(mesh)
    fine = gbuffer(surface, camera, 192, caster)
    color = np.zeros((192, 192, 3))
    color[fine.mask] = shade(surface, camera, light, fine, caster)
    cells = (96, 2, 96, 2)
    count = fine.mask.reshape(cells).sum((1, 3))
    want = linear_to_srgb(color.reshape(*cells, 3).sum((1, 3)) / np.maximum(count, 1)[..., None])
    picture = render(surface, camera, 96, light, 2, caster)
    apart = np.abs(picture.rgb - want)[count > 0]
    assert (picture.alpha == count / 4).all()
    assert apart.mean() < 0.6 / 255  # of a texture that is white noise
    assert np.quantile(apart, 0.99) < 8 / 255


def test_more_rays_where_neighbours_differ_equal_more_rays_everywhere():
    import trimesh

    ball, bar = trimesh.creation.icosphere(4, 0.5), trimesh.creation.box((1.6, 0.2, 0.3))
    mesh = Mesh.from_trimesh(trimesh.util.concatenate([ball, bar.apply_translation((0, 0, 0.7))]))
    checks = 60 * (np.indices((8, 8)).sum(axis=0) % 2)[..., None] + [120, 80, 40]
    look = SurfaceMaterial(base_color_texture=checks.astype(np.uint8), roughness=0.4)
    flat = mesh.vertices[:, 1:][mesh.faces] * 1.5
    surface = dataclasses.replace(plain(mesh, look, smooth=True), corner_uv=flat)
    camera, light, caster = orbit_camera(0.5, 0.4), Lighting.studio(0.5), Caster(mesh)
    want = render(surface, camera, 128, light, 2, caster)
    picture = render_adaptive(surface, camera, 128, light, caster)
    assert (picture.alpha == want.alpha).all()
    apart = np.abs(picture.over() - want.over())
    assert apart.max() < CONTRAST and np.sqrt((apart**2).mean()) < 0.5 / 255
    once = render(surface, camera, 128, light, 1, caster)
    assert np.abs(once.over() - want.over()).max() > 10 * CONTRAST  # what the rays are for


def test_bilinear_lookup_hits_texel_centres_repeats_and_has_v_up():
    texture = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    table = np.arange(256, dtype=np.float32)
    uv = np.array([[0.125, 5 / 6], [0.875, 1 / 6], [1.125, -1 / 6], [0.25, 0.5]])
    assert bilinear(texture, uv, table)[:, 0] == pytest.approx([0, 11, 0, 4.5])


def test_material_multiplies_factor_texture_and_vertex_colour():
    texture = np.full((2, 2, 3), 128, np.uint8)
    packed = np.full((2, 2, 3), 51, np.uint8)
    material = SurfaceMaterial((0.5, 1.0, 1.0), 1.0, 0.5, texture, packed)
    mesh = quad()
    surface = Surface(
        mesh,
        np.zeros((2, 3, 2)),
        np.zeros(2, np.int64),
        (material,),
        vertex_color=np.full((4, 3), 200, np.uint8),
    )
    base, metallic, roughness = sample_material(surface, np.array([1]), np.full((1, 3), 1 / 3))
    grey = srgb_to_linear(np.array([128, 200]) / 255).prod()
    expected = [grey * srgb_to_linear(np.array(0.5)), grey, grey]
    assert base[0] == pytest.approx(expected, rel=1e-5)
    assert (metallic[0], roughness[0]) == pytest.approx((0.2, 0.1))


def test_framed_camera_centres_the_object_with_the_asked_margin():
    mesh = box((0.4, 1.9, 0.7))
    for azimuth, elevation in ((0.0, 0.0), (1.0, 0.5), (-2.5, 0.9)):
        camera = framed_camera(mesh.vertices, azimuth, elevation, 3.5, fill=0.8)
        uv, _ = camera.project(mesh.vertices)
        assert uv.min(axis=0) + uv.max(axis=0) == pytest.approx([0, 0], abs=1e-9)
        assert np.ptp(uv, axis=0).max() == pytest.approx(1.6)
    with pytest.raises(ValueError, match=r"distance 0\.1"):
        framed_camera(mesh.vertices, 0, 0, 0.1)


def test_orbit_camera_sees_every_corner_of_the_canonical_cube():
    corners = box((1.9, 1.9, 1.9)).vertices
    for azimuth in np.linspace(0, 6, 13):
        uv, _ = orbit_camera(azimuth, 0.4).project(corners)
        assert np.abs(uv).max() < 0.96


def test_random_light_is_reproducible_varied_and_well_exposed():
    grey = SurfaceMaterial((0.6, 0.6, 0.6), 0.0, 0.8)
    surface = plain(sphere(subdivisions=3), grey, True)
    caster, camera = Caster(surface.mesh), orbit_camera(0.5, 0.3)
    means = []
    for seed in range(30):
        light = Lighting.random(np.random.default_rng(seed), camera)
        assert light == Lighting.random(np.random.default_rng(seed), camera)
        picture = render(surface, camera, 32, light, 1, caster)
        means.append(picture.rgb[picture.alpha > 0].mean())
        assert (picture.rgb[picture.alpha > 0] > 0.98).mean() < 0.05
    assert min(means) > 0.3 and max(means) < 0.8
    assert np.std(means) > 0.03


def test_renders_are_identical_and_fast():
    surface = plain(sphere(0.95, 6), SurfaceMaterial(roughness=0.4), True)
    caster, camera = Caster(surface.mesh), orbit_camera(0.5, 0.3)
    render(surface, camera, 32, Lighting.studio(), 2, caster)
    start = time.process_time()
    first = render(surface, camera, 224, Lighting.studio(), 2, caster)
    spent = time.process_time() - start
    second = render(surface, camera, 224, Lighting.studio(), 2, caster)
    assert (first.rgb == second.rgb).all() and (first.alpha == second.alpha).all()
    assert spent < 1.0  # measured 0.13 s; slack for a busy machine


def test_a_mesh_without_faces_is_refused():
    with pytest.raises(ValueError, match="0 faces"):
        Caster(Mesh(np.zeros((3, 3)), np.zeros((0, 3), np.int64)))
