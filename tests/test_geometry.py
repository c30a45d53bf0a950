"""Geometry: fields against closed forms, the flow against a field whose answer is known."""

import numpy as np
import pytest
import torch
from skimage.measure import euler_number

from seed3d.errors import StageError
from seed3d.geometry import cameras as cam
from seed3d.geometry import flow
from seed3d.geometry.autoencoder import BlockAutoencoder, sample_grid
from seed3d.geometry.dit import ShapeDiT, block_points
from seed3d.geometry.fit import (
    ENOUGH,
    fit_cameras,
    fit_latents,
    fit_shape,
    fit_warp,
    warped,
)
from seed3d.geometry.head import BINS, HeadOutput, candidate_cameras
from seed3d.geometry.photo import PhotoFeatures, local_maps
from seed3d.geometry.silhouette import silhouette, silhouette_iou
from seed3d.geometry.surface import extract, main_body
from seed3d.geometry.tsdf import TRUNCATION, canonical, grid_points, signed_distance_grid, truncate
from seed3d.train.autoencoder import fit_autoencoder, iou
from seed3d.types import Camera, Mesh


def ball(resolution=32, radius=0.6):
    return (np.linalg.norm(grid_points(resolution), axis=-1) - radius).astype(np.float32)


def trimesh_mesh(shape):
    return Mesh.from_trimesh(shape)


def test_signed_distance_of_a_sphere():
    import trimesh

    mesh = trimesh_mesh(trimesh.creation.icosphere(subdivisions=4, radius=0.7))
    truth = ball(32, 0.7)
    found = signed_distance_grid(mesh, 32)
    far = np.abs(truth) > 2.0 / 32  # within a voxel of the surface the sign is a neighbour's
    assert np.abs(found - truth)[far & (truth < 0.5)].max() < 0.01
    assert ((found < 0) != (truth < 0)).mean() < 0.003


def test_signed_distance_keeps_the_cavity_of_an_open_cup():
    import trimesh

    outer = trimesh.creation.cylinder(0.6, 1.4)
    sheet = trimesh.Trimesh(outer.vertices, outer.faces[outer.face_normals[:, 2] < 0.9])
    assert not sheet.is_watertight
    found = signed_distance_grid(trimesh_mesh(sheet), 48)
    points = grid_points(48)
    flat = found.ravel()
    nearest = np.linalg.norm(points.reshape(-1, 3) - [0, 0, 0.2], axis=1).argmin()
    assert flat[nearest] > 0  # inside of the cup is open space
    wall = np.linalg.norm(points.reshape(-1, 3) - [0.6, 0, 0], axis=1).argmin()
    assert flat[wall] < 0  # the sheet became a solid wall


def test_flipped_and_doubled_faces_do_not_matter():
    import trimesh

    box = trimesh.creation.box((1.0, 1.2, 1.8))
    faces = np.concatenate([box.faces[:, ::-1], box.faces[:6]])
    broken = Mesh(np.array(box.vertices), faces.astype(np.int64))
    good = signed_distance_grid(trimesh_mesh(box), 32)
    assert np.allclose(signed_distance_grid(broken, 32), good, atol=1e-6)


def test_canonical_centres_and_returns_the_way_back():
    import trimesh

    box = trimesh_mesh(trimesh.creation.box((2.0, 4.0, 1.0)).apply_translation((5, 6, 7)))
    mesh, scale, center = canonical(box)
    assert np.allclose(mesh.bounds, [[-0.475, -0.95, -0.2375], [0.475, 0.95, 0.2375]])
    assert np.allclose(mesh.vertices * scale + center, box.vertices)


def test_extracted_sphere_has_its_volume_and_faces_outwards():
    mesh = extract(ball(64)).to_trimesh()
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(4 / 3 * np.pi * 0.6**3, rel=0.005)
    assert np.allclose(mesh.bounds, [[-0.6] * 3, [0.6] * 3], atol=0.01)


def test_extraction_closes_at_the_border_and_refuses_nothing():
    full = extract(np.full((8, 8, 8), -1.0, np.float32)).to_trimesh()
    assert full.is_watertight and full.volume > 6
    with pytest.raises(StageError, match="no point is inside"):
        extract(np.ones((8, 8, 8), np.float32))


def test_blocks_round_trip_and_token_order():
    model = BlockAutoencoder(resolution=16, block=8, channels=4)
    grid = torch.randn(2, 16, 16, 16)
    assert torch.equal(model.unblocks(model.blocks(grid)), grid)
    # Token t is the block whose centre is block_points(2, 1)[t].
    axis = torch.from_numpy(grid_points(16))
    centers = model.blocks(axis.permute(3, 0, 1, 2)).mean(dim=2).T  # (8, 3)
    assert torch.allclose(centers, block_points(2, 1), atol=1e-6)


def test_autoencoder_is_exact_when_the_data_has_its_rank():
    radii = np.linspace(0.3, 0.8, 12)
    grids = torch.from_numpy(np.stack([truncate(ball(16, r)) for r in radii]))
    model = BlockAutoencoder(resolution=16, block=8, channels=96)
    fit_autoencoder(model, (grids * 127).round().to(torch.int8), torch.ones(12))
    back = model.decode(model.encode(grids))
    assert float(iou(back, grids).min()) > 0.97
    points = torch.tensor([[[0.5, 0.0, 0.0], [0.0, 0.0, 0.1]]])
    value = model.field(model.encode(grids[6:7]))(points)
    truth = torch.tensor([0.5, 0.1]) - radii[6]
    assert torch.allclose(value[0], truth.clamp(-TRUNCATION, TRUNCATION).float(), atol=0.03)


def test_grid_sampling_is_trilinear():
    points = torch.from_numpy(grid_points(8))
    grid = (points @ torch.tensor([1.0, -2.0, 0.5]))[None]  # a linear field is met exactly
    where = torch.rand(1, 20, 3) * 1.6 - 0.8
    found = sample_grid(grid, where)
    assert torch.allclose(found, where @ torch.tensor([1.0, -2.0, 0.5]), atol=1e-5)


def test_flow_reaches_a_known_target_and_has_the_right_marginals():
    target = torch.tensor([[1.5, -0.5]])
    noise = torch.randn(1, 2, generator=torch.Generator().manual_seed(0))
    found = flow.sample(lambda x, s: target.expand_as(x), noise, 7, shift=2.0)
    assert torch.allclose(found, target, atol=1e-5)

    # Data N(2, 0.5^2): the best predictor is known in closed form; samples must be so too.
    def posterior(x, sigma):
        s = sigma[:, None]
        variance = (1 - s) ** 2 * 0.25 + s**2
        return 2 + (1 - s) * 0.25 / variance * (x - (1 - s) * 2)

    noise = torch.randn(20_000, 1, generator=torch.Generator().manual_seed(1))
    found = flow.sample(posterior, noise, 100, shift=1.0)
    assert found.mean() == pytest.approx(2.0, abs=0.02)
    assert found.std() == pytest.approx(0.5, abs=0.02)


def test_schedule_ends_and_shift():
    sigmas = flow.schedule(4, 3.0)
    assert sigmas[0] == 1 and sigmas[-1] == 0
    assert sigmas[2] == pytest.approx(0.75)  # 3 * 0.5 / (1 + 2 * 0.5)


@pytest.fixture
def tiny():
    torch.manual_seed(0)
    model = ShapeDiT(
        tokens_per_side=2, channels=8, width=32, heads=2, double_blocks=1, single_blocks=1
    )
    torch.nn.init.normal_(model.proj_out.weight, std=0.1)
    for module in model.modules():
        if hasattr(module, "parts"):
            torch.nn.init.normal_(module.linear.weight, std=0.1)
    return model.eval()


def features(count, seed=0):
    g = torch.Generator().manual_seed(seed)
    shapes = [(112, 14, 14), (320, 7, 7), (1280,), (4, 56, 56)]
    return PhotoFeatures(*(torch.randn(count, *shape, generator=g) for shape in shapes))


def test_dit_result_does_not_depend_on_the_batch(tiny):
    photo, cameras = features(3), torch.tensor([[0.3, 0.2, 4.0, 3.0, 0, 0]]).repeat(3, 1)
    noisy, sigma = torch.randn(3, 8, 8), torch.tensor([0.2, 0.5, 0.9])
    together = tiny(noisy, sigma, photo, cameras)
    alone = tiny(noisy[1:2], sigma[1:2], photo.take(torch.tensor([1])), cameras[1:2])
    assert torch.allclose(together[1:2], alone, atol=1e-5)


def test_dit_sees_photo_and_camera_unless_dropped(tiny):
    noisy, sigma = torch.randn(1, 8, 8), torch.tensor([0.5])
    camera = torch.tensor([[0.3, 0.2, 4.0, 3.0, 0.0, 0.0]])
    other = torch.tensor([[1.3, 0.2, 4.0, 3.0, 0.0, 0.0]])
    base = tiny(noisy, sigma, features(1), camera)
    assert not torch.allclose(base, tiny(noisy, sigma, features(1, 5), camera), atol=1e-3)
    assert not torch.allclose(base, tiny(noisy, sigma, features(1), other), atol=1e-3)
    drop = torch.tensor([True])
    blind = tiny(noisy, sigma, features(1), camera, drop)
    assert torch.allclose(blind, tiny(noisy, sigma, features(1, 5), other, drop), atol=1e-6)


def test_tokens_see_the_photo_where_their_block_projects(tiny):
    """A map that is u itself must come back as each point's projected u."""
    axis = (torch.arange(56) + 0.5) / 56 * 2 - 1
    maps = axis.view(1, 1, 1, 56).expand(1, 1, 56, 56)
    camera = torch.tensor([[0.4, 0.3, 4.0, 2.0, 0.1, 0.0]])
    seen = tiny._seen(maps, camera, tiny.fine_points, 64).reshape(-1)
    assert torch.allclose(seen, cam.project(camera, tiny.fine_points)[0, :, 0], atol=1e-3)


def test_silhouette_of_a_sphere_has_the_area_of_its_cone():
    grid = torch.from_numpy(truncate(ball(64, 0.7)))[None]
    camera = Camera(0.5, 0.3, 4.0, 3.0, 0.1, -0.1)
    soft = silhouette(grid, cam.as_row(camera))
    area = float((soft > 0.5).float().mean()) * 4
    assert area == pytest.approx(np.pi * (3 * 0.7) ** 2 / (16 - 0.49), rel=0.03)
    rows, columns = torch.where(soft[0] > 0.5)
    assert (columns.float().mean() + 0.5) / 28 - 1 == pytest.approx(0.1, abs=0.02)
    assert (rows.float().mean() + 0.5) / 28 - 1 == pytest.approx(-0.1, abs=0.02)


def box_grid(half):
    distance = np.abs(grid_points(32)) - np.array(half)
    outside = np.linalg.norm(np.maximum(distance, 0), axis=-1)
    return truncate((outside + np.minimum(distance.max(-1), 0)).astype(np.float32))


def test_camera_fit_finds_a_shifted_camera():
    grid = torch.from_numpy(box_grid((0.3, 0.8, 0.5)))[None]
    true = torch.tensor([[0.5, 0.35, 4.0, 3.2, 0.05, -0.05]])
    mask = (silhouette(grid, true) > 0.5).float()
    start = true + torch.tensor([[0.1, -0.06, 0.0, 0.15, 0.06, 0.04]])
    found = fit_cameras(grid, start, mask, 60)
    before = silhouette_iou(silhouette(grid, start), mask)
    after = silhouette_iou(silhouette(grid, found), mask)
    assert float(after[0]) > 0.97 > float(before[0])
    assert (found - true)[0, :2].abs().sum() < (start - true)[0, :2].abs().sum()


@pytest.fixture(scope="module")
def balls():
    """Balls of ten radii, and an autoencoder of them."""
    radii = np.linspace(0.3, 0.9, 10)
    grids = torch.from_numpy(np.stack([truncate(ball(32, r)) for r in radii]))
    model = BlockAutoencoder(resolution=32, block=16, channels=8)
    fit_autoencoder(model, (grids * 127).round().to(torch.int8), torch.ones(10))
    return grids, model


CAMERA = torch.tensor([[0.0, 0.2, 4.0, 3.0, 0.0, 0.0]])


def test_latent_fit_reaches_the_mask(balls):
    grids, model = balls
    mask = (silhouette(grids[6:7], CAMERA) > 0.5).float()
    start = model.encode(grids[3:4])
    latents, cameras = fit_latents(model.decode, start, CAMERA, mask, 60, 0.01, enough=1.0)
    reached = silhouette_iou(silhouette(model.decode(latents), cameras), mask)
    assert float(reached[0]) > 0.93


def test_latent_fit_leaves_alone_what_agrees_with_its_mask(balls):
    grids, model = balls
    cameras = CAMERA.repeat(2, 1)
    mask = (silhouette(model.decode(model.encode(grids[[3, 6]])), cameras) > 0.5).float()
    start = model.encode(grids[[3, 3]])
    latents, found = fit_latents(model.decode, start, cameras, mask, 8)
    assert torch.equal(latents[0], start[0]) and torch.equal(found[0], cameras[0])
    assert not torch.equal(latents[1], start[1])
    alone, _ = fit_latents(model.decode, start[1:], cameras[1:], mask[1:], 8)
    assert torch.allclose(latents[1], alone[0], atol=1e-5)  # whatever shares the batch


def test_latents_that_the_outline_does_not_concern_hardly_move():
    start = torch.from_numpy(truncate(ball(64, 0.4))).view(1, 64, 4096)  # slabs along x are tokens
    camera = torch.tensor([[0.0, 0.0, 4.0, 3.0, 0.0, 0.0]])  # looks along x
    mask = (silhouette(torch.from_numpy(truncate(ball(64, 0.46)))[None], camera) > 0.5).float()
    latents, _ = fit_latents(lambda z: z.view(-1, 64, 64, 64), start, camera, mask, 12, enough=1.0)
    change = (latents - start)[0].abs().mean(dim=1)
    outline, front = change[28:36].mean(), change[42:46].mean()  # |x| < 0.12; x about 0.37
    assert float(outline) > 0
    assert float(front) < 0.1 * float(outline)


def test_a_warp_shifts_by_what_it_is_told():
    grid = torch.from_numpy(box_grid((0.3, 0.5, 0.4)))[None]
    shift = torch.zeros(1, 3, 4, 4, 4)
    shift[:, 1] = 2 * 2 / 32  # two voxels along y
    moved = warped(grid, shift)
    assert torch.allclose(moved[:, :, :-2], grid[:, :, 2:], atol=1e-5)
    assert torch.allclose(warped(grid, torch.zeros_like(shift)), grid, atol=1e-6)


def test_a_warp_stretches_linearly_between_its_control_points():
    grid = torch.from_numpy(box_grid((0.4, 0.4, 0.4)))[None]
    axis = torch.linspace(-1, 1, 5)
    shift = torch.zeros(1, 3, 5, 5, 5)
    shift[0, 2] = -0.5 * axis  # asks at half the height: twice as tall
    inside = warped(grid, shift)[0] < 0
    tall = inside.any(0).any(0).sum() * 2 / 32
    wide = inside.any(1).any(1).sum() * 2 / 32
    assert float(tall) == pytest.approx(1.6, abs=0.13)
    assert float(wide) == pytest.approx(0.8, abs=0.07)


def cup_grid(radius, height):
    p = grid_points(64)
    around = np.hypot(p[..., 0], p[..., 1])
    outer = np.maximum(around - radius, np.abs(p[..., 2]) - height)
    hole = np.maximum(around - radius + 0.06, -(p[..., 2] + height - 0.08))
    return truncate(np.maximum(outer, -hole).astype(np.float32))


def test_warp_lowers_a_rim_that_stands_out_and_does_not_cut_it():
    grid = torch.from_numpy(cup_grid(0.5, 0.6))[None]
    camera = torch.tensor([[0.3, 0.35, 4.0, 3.0, 0.0, 0.0]])
    mask = (silhouette(torch.from_numpy(cup_grid(0.5, 0.55))[None], camera) > 0.5).float()
    shift, cameras = fit_warp(grid, camera, mask, 20)
    bent = warped(grid, shift)
    before = silhouette_iou(silhouette(grid, camera), mask)
    after = silhouette_iou(silhouette(bent, cameras), mask)
    assert float(after[0]) > 0.97 > 0.94 > float(before[0])
    inside = bent[0].numpy() < 0
    assert euler_number(inside, 1) == 1  # a cup without a handle: one piece, no hole
    x, y = np.meshgrid(np.arange(64) - 31.5, np.arange(64) - 31.5, indexing="ij")
    angle = np.arctan2(y, x)
    heights = [
        np.flatnonzero(inside[(np.abs(angle - a) < 0.2) & (np.hypot(x, y) > 10)].any(0)).max()
        for a in np.linspace(-2.9, 2.9, 16)
    ]
    assert max(heights) - min(heights) <= 1


def test_shape_fit_reaches_the_mask_and_keeps_the_cup_whole():
    cup, lower = (torch.from_numpy(cup_grid(0.5, h))[None] for h in (0.6, 0.53))
    camera = torch.tensor([[0.3, 0.35, 4.0, 3.0, 0.0, 0.0]])
    mask = (silhouette(lower, camera) > 0.5).float()

    def decode(latents):  # a grid that is its own latents
        return latents.view(-1, 64, 64, 64)

    fitted = fit_shape(decode, cup.view(1, 64, 4096), camera, mask, 60)
    bent = warped(decode(fitted.latents), fitted.shift)
    agreement = silhouette_iou(silhouette(bent, fitted.cameras), mask)
    assert float(silhouette_iou(silhouette(cup, camera), mask)[0]) < 0.92
    assert float(agreement[0]) >= ENOUGH
    assert euler_number(bent[0].numpy() < 0, 1) == 1


def test_candidate_cameras_are_the_modes_and_not_neighbours():
    logits = torch.full((1, BINS), -5.0)
    logits[0, 2], logits[0, 3], logits[0, 14] = 4.0, 3.5, 3.0
    offset = torch.zeros(1, BINS)
    offset[0, 2] = 0.25
    pose = torch.tensor([[0.3, np.log(4.0), np.log(0.8), 0.1, -0.1]])
    out = HeadOutput(logits, offset, pose, *(torch.zeros(1, n) for n in (2, 1, 1, 2)))
    cameras, score = candidate_cameras(out, 2)
    width = 2 * np.pi / BINS
    assert cameras[0, 0, 0] == pytest.approx(2.25 * width)
    assert cameras[0, 1, 0] == pytest.approx(14 * width - 2 * np.pi)
    assert score[0, 0] > score[0, 1] > 0.1
    assert cameras[0, 0, 1:].tolist() == pytest.approx([0.3, 4.0, 3.2, 0.1, -0.1], abs=1e-5)


def test_local_maps_hold_signed_distance_of_the_mask():
    axis = (np.arange(224) + 0.5) / 112 - 1
    radius = np.hypot(*np.meshgrid(axis, axis))
    maps = local_maps(np.ones((224, 224, 3), np.float32), (radius < 0.5).astype(np.float32))
    assert maps.shape == (4, 56, 56)
    coarse = (np.arange(56) + 0.5) / 28 - 1
    truth = np.clip((np.hypot(*np.meshgrid(coarse, coarse)) - 0.5) / 0.25, -1, 1)
    assert np.abs(maps[3] - truth).max() < 0.06
    assert (maps[:3] == 1).all()
    with pytest.raises(ValueError, match="mask is empty"):
        local_maps(np.ones((56, 56, 3), np.float32), np.zeros((56, 56), np.float32))


def test_main_body_drops_crumbs_and_inner_shells():
    import trimesh

    big = trimesh.creation.icosphere(radius=0.5)
    inner = trimesh.creation.icosphere(radius=0.2)
    inner.invert()
    crumb = trimesh.creation.box((0.1, 0.1, 0.1)).apply_translation((0.8, 0, 0))
    body = main_body(trimesh_mesh(trimesh.util.concatenate([crumb, inner, big])))
    assert body.dropped == 2
    assert body.mesh.to_trimesh().volume == pytest.approx(big.volume)
    assert body.dropped_share == pytest.approx(0.001 / (0.001 + big.volume), rel=1e-3)
    assert main_body(trimesh_mesh(big)).dropped == 0


def test_a_mirrored_photo_gives_the_mirrored_answer():
    from seed3d.geometry.cameras import mirrored
    from seed3d.geometry.head import BINS, HeadOutput, candidate_cameras, of_both_ways

    generator = torch.Generator().manual_seed(3)
    cameras = torch.rand(1, 6, generator=generator) + 0.5
    first = HeadOutput(
        10 * torch.nn.functional.one_hot(torch.tensor([5]), BINS).float(),
        torch.full((1, BINS), 0.2),
        torch.tensor([[0.4, 1.0, 0.1, 0.05, -0.03]]),
        *(torch.randn(1, n, generator=generator) for n in (2, 4, 3, 2)),
    )
    back = -torch.arange(BINS) % BINS
    second = HeadOutput(
        first.azimuth_logits[:, back], -first.azimuth_offset[:, back],
        first.pose * torch.tensor([1.0, 1, 1, -1, 1]), *first[3:],
    )  # fmt: skip
    both = of_both_ways(HeadOutput(*(torch.cat(pair) for pair in zip(first, second, strict=True))))
    found, expected = candidate_cameras(both, 1)[0], candidate_cameras(first, 1)[0]
    assert torch.allclose(found, expected, atol=1e-5)
    assert torch.allclose(
        candidate_cameras(second, 1)[0][:, 0], mirrored(expected[:, 0]), atol=1e-5
    )
    assert torch.equal(mirrored(mirrored(cameras)), cameras)


def test_the_mirrored_object_projects_to_the_mirrored_photo():
    from seed3d.geometry.cameras import mirrored, project

    points = torch.randn(20, 3, generator=torch.Generator().manual_seed(0)) * 0.4
    cameras = torch.tensor([[0.7, 0.3, 3.0, 2.5, 0.1, -0.2]])
    seen = project(cameras, points)
    turned = project(mirrored(cameras), points * torch.tensor([1.0, -1, 1]))
    assert torch.allclose(turned, seen * torch.tensor([-1.0, 1]), atol=1e-5)
