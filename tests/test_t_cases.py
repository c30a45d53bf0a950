"""Failing cases of peers, each with the tests that prove it here.

| case | input | tests |
|---|---|---|
| T1 | JPEG with EXIF orientation | test_image_load.py::test_exif_orientation_gives_the_upright_image |
| T2 | transparent PNG with noise behind alpha | test_image.py::test_hidden_colours_never_reach_the_result, test_image.py::test_hidden_colours_never_reach_the_network |
| T3 | half-transparent edge over black | test_image.py::test_premultiplied_edges_leave_no_dark_halo |
| T4 | empty, white, 1 x 1, 16-bit, CMYK, animated images | test_image.py::test_fully_transparent_and_alpha_asked_for_in_vain, test_image.py::test_all_white_image_has_no_object, test_image_load.py::test_16_bit_grey_is_scaled_not_clipped, test_image_load.py::test_cmyk_jpeg_is_not_inverted, test_image_load.py::test_first_frame_of_an_animation, test_pipeline.py::test_bad_input_is_told_and_leaves_nothing |
| T5 | cube with a face missing | test_mesh.py::test_cube_without_its_bottom_or_back_is_closed_exactly, test_mesh.py::test_cube_open_at_the_front_or_top_stays_a_container, test_physics.py::test_mass_properties_refuse_what_is_no_solid |
| T6 | cube wound inside out | test_mesh.py::test_inverted_cube_and_mixed_winding_are_turned |
| T7 | cube far from the origin | test_physics.py::test_closed_forms_rotated_and_translated, test_mesh_kinds.py::test_tiny_huge_and_off_centre_boxes_keep_their_proportions |
| T8 | flat quad, plate of 1e-7 | test_mesh.py::test_flat_things_get_a_thickness, test_physics.py::test_flat_points_get_the_thickness_engines_need, test_t_cases.py::test_t8_a_flat_quad_becomes_a_plate_that_both_engines_load |
| T9 | 0.1 mm and 50 m objects | test_physics.py::test_tiny_and_huge_objects_load_in_both_engines, test_physics.py::test_engine_minimum_is_what_mujoco_accepts |
| T10 | floater; two bodies | test_mesh.py::test_floater_goes_and_two_real_bodies_stay |
| T11 | nested spheres, pin-hole | test_mesh.py::test_nested_spheres_and_pin_holes_give_the_outer_volume, test_mesh.py::test_hollow_joined_to_the_outside_by_a_pin_hole_is_filled |
| T12 | torus, cup: a ball of 0.8 passes | test_physics.py::test_ball_of_0_8_passes_the_hole_of_a_torus, test_physics.py::test_ball_of_0_8_reaches_the_bottom_of_a_cup, test_verify_trials.py::test_ball_of_four_fifths_falls_through_a_torus, test_verify_trials.py::test_ball_lands_in_a_cup_but_not_in_one_with_an_invisible_lid, test_export.py::test_simcheck_finds_nothing_to_warn_about |
| T13 | impossible inertia, signs of products | test_t_cases.py::test_t13_the_published_bad_tensor_is_refused_and_projected, test_physics.py::test_projection_gives_the_nearest_valid_tensor, test_physics.py::test_off_diagonal_is_minus_the_product_integral, test_verify.py::test_planted_defect_is_caught_by_the_right_check |
| T14 | mass 0, NaN, negative, no inertial | test_physics.py::test_invalid_inertia_is_refused, test_t_cases.py::test_t14_a_file_without_inertial_or_with_a_bad_mass_fails |
| T15 | scale laws | test_physics.py::test_scale_laws, test_verify.py::test_planted_defect_is_caught_by_the_right_check |
| T16 | difficult names | test_export.py::test_any_name_loads_everywhere, test_export.py::test_names_are_safe_stable_and_distinct, test_mesh_kinds.py::test_material_names_with_xml_and_quotes |
| T17 | OBJ with spaces, materials, n-gons, negative indices | test_mesh.py::test_obj_ngons_negative_indices_spaces_and_two_materials, test_mesh_kinds.py::test_concave_polygons_cover_their_own_area |
| T18 | two assets in a scene | test_export.py::test_two_assets_share_a_scene_without_sharing_a_texture |
| T19 | visual and collision mesh of one name | test_t_cases.py::test_t19_no_two_meshes_of_an_asset_share_a_base_name |
| T20 | star: hull explosion | test_physics.py::test_caps_are_respected, test_t_cases.py::test_t20_a_spiky_star_stays_within_the_caps |
| T21 | GLB is Y up | test_mesh.py::test_glb_y_up_stands_and_keeps_its_texture, test_pipeline.py::test_mesh_keeps_size_and_colours_and_gets_its_closed_form_inertia |
| T22 | USD units and profile | test_export.py::test_simready_profile_passes, test_export.py::test_usd_holds_the_same_body |
| T23 | over 400 k faces, 81,920-face icosphere | test_mesh.py::test_large_meshes_are_decimated_within_bounds, test_texture.py::test_a_crash_of_xatlas_falls_back_and_says_so, test_t_cases.py::test_t23_an_icosphere_of_81920_faces_is_decimated_for_the_unwrapper |
| T24 | batch with a corrupt file; clashing names | test_pipeline.py::test_bad_meshes_are_told_and_the_good_one_is_made, test_export.py::test_clashing_names_are_told_apart, test_batch.py::test_bad_items_fail_alone_with_their_cause_and_crashed_ones_are_retried, test_batch.py::test_finished_items_are_not_done_again_but_changed_ones_are |
| T25 | folder moved elsewhere | test_pipeline.py::test_folder_can_be_moved_and_verified_again |
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh

from seed3d.config import MeshConfig, PhysicsConfig, TextureConfig
from seed3d.errors import StageError
from seed3d.mesh import measure
from seed3d.mesh.solid import make_solid
from seed3d.physics import inertia
from seed3d.physics.hulls import decompose
from seed3d.types import Mesh
from seed3d.verify.files import check_files
from seed3d.verify.folder import Expected
from seed3d.verify.target import as_target

HERE = Path(__file__).parent


def test_every_case_has_tests_that_exist():
    rows = re.findall(r"^\| (T\d+) \|.*\| (.*) \|$", __doc__ or "", re.MULTILINE)
    assert [row[0] for row in rows] == [f"T{i}" for i in range(1, 26)]
    known: dict[str, set[str]] = {}
    for case, names in rows:
        for name in names.split(", "):
            file, test = name.split("::")
            if file not in known:
                tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
                known[file] = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
            assert test in known[file], f"{case}: {file} has no {test}"


def test_t8_a_flat_quad_becomes_a_plate_that_both_engines_load(tmp_path):
    """A quad of 1.9: solid, hulls with volume, and a mass that both engines take."""
    from test_verify import Body, engine_checks, write

    quad = np.array([[0, 0, 0], [1.9, 0, 0], [1.9, 1, 0], [0, 1, 0]], float)
    solid = make_solid(Mesh(quad, np.array([[0, 1, 2], [0, 2, 3]])), MeshConfig(resolution=64))
    assert any("rebuilt" in f.what for f in solid.fallbacks)
    plate = solid.mesh.moved(0.1, np.array([-0.095, -0.05, 0.0]))
    hulls = decompose(plate, PhysicsConfig(), 0).hulls
    assert all(h.extents.min() > 0 for h in hulls)
    body = Body(plate.to_trimesh(), [h.to_trimesh() for h in hulls])
    checks = engine_checks(write(body, tmp_path / "plate"))
    assert all(c.passed for c in checks), [c for c in checks if not c.passed]


def test_t13_the_published_bad_tensor_is_refused_and_projected():
    """(1.486e-6, 2e-7, 8.31e-7) of a real asset: A + B < C."""
    tensor = np.diag([1.486e-6, 2e-7, 8.31e-7])
    with pytest.raises(StageError, match=r"A \+ B >= C"):
        inertia.check_inertia(0.05, tensor)


@pytest.mark.parametrize(
    ("inertial", "word"),
    [
        ("", "none stated"),
        ('<inertial><mass value="0"/><inertia ixx="1" iyy="1" izz="1"/></inertial>', "0"),
        ('<inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>', "-1"),
        ('<inertial><mass value="nan"/><inertia ixx="1" iyy="1" izz="1"/></inertial>', "nan"),
        ('<inertial><mass value="inf"/><inertia ixx="1" iyy="1" izz="1"/></inertial>', "inf"),
    ],
)
def test_t14_a_file_without_inertial_or_with_a_bad_mass_fails(tmp_path, inertial, word):
    shape = '<geometry><box size="0.3 0.2 0.1"/></geometry>'
    path = tmp_path / "thing.urdf"
    path.write_text(
        f'<robot name="thing"><link name="base">{inertial}<visual>{shape}</visual>'
        f"<collision>{shape}</collision></link></robot>"
    )
    (mass,) = [c for c in check_files(as_target(path), Expected()) if c.name == "mass"]
    assert not mass.passed and word in str(mass.value)


def test_t19_no_two_meshes_of_an_asset_share_a_base_name():
    """Loaders that key meshes by base name would take the one for the other."""
    from test_export import l_prism

    from seed3d.export import asset_files

    names = [Path(f).name.lower() for f in asset_files(l_prism()) if f.endswith(".obj")]
    assert len(names) == len(set(names)) >= 2


def test_t20_a_spiky_star_stays_within_the_caps():
    """Six spikes on a ball, as one body; every hull within PhysX's limit."""
    spikes = []
    for direction in (*np.eye(3), *-np.eye(3)):
        cone = trimesh.creation.cone(0.12, 0.9, sections=8)
        cone.apply_transform(trimesh.geometry.align_vectors([0, 0, 1], direction))
        spikes.append(cone)
    star = trimesh.util.concatenate([trimesh.creation.icosphere(2, 0.3), *spikes])
    solid = make_solid(Mesh.from_trimesh(star), MeshConfig(target_faces=600)).mesh
    assert measure.component_count(solid) == 1
    config = PhysicsConfig(hull_threshold=0.2)
    found = decompose(solid.moved(0.2, np.zeros(3)), config, 0)
    assert 1 < len(found.hulls) <= config.max_hulls
    assert max(len(h.vertices) for h in found.hulls) <= 64
    assert found.volume_ratio < 2.5


def test_t23_an_icosphere_of_81920_faces_is_decimated_for_the_unwrapper():
    """This one crashes xatlas; decimated it unwraps, or falls back and says so."""
    from seed3d.texture.unwrap import unwrap

    ball = trimesh.creation.icosphere(6, radius=0.95)
    assert len(ball.faces) == 81_920
    solid = make_solid(Mesh.from_trimesh(ball), MeshConfig(target_faces=2000)).mesh
    assert len(solid.faces) <= 2000
    atlas = unwrap(solid, TextureConfig(size=256))
    assert len(atlas.faces) == len(solid.faces) and atlas.uv.min() >= 0 and atlas.uv.max() <= 1
