"""What a batch takes: folders, globs, manifests, names. No asset is made here."""

import json

import pytest
from click.testing import CliRunner

from seed3d.batch import plan_items
from seed3d.cli import main
from seed3d.config import load_preset
from seed3d.errors import ConfigError, InputError


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    for path in ("mug.png", "a/mug.png", "b/mug.jpg", "b/mug.png", "b/.hidden.png", "b/notes.txt",
                 ".thumbs/mug.png"):  # fmt: skip
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"x")
    return folder


def labels(items):
    return [item.label for item in items]


def names(items):
    return {item.label: item.name for item in items}


def test_folder_is_searched_and_same_names_in_it_stay_apart(photos):
    items = plan_items([photos])
    assert labels(items) == ["a/mug.png", "b/mug.jpg", "b/mug.png", "mug.png"]
    found = names(items)
    assert found["mug.png"] == "mug" and found["a/mug.png"] == "a_mug"
    assert found["b/mug.jpg"] != found["b/mug.png"]
    assert all(found[x].startswith("b_mug_") for x in ("b/mug.jpg", "b/mug.png"))


def test_names_do_not_depend_on_the_order_or_on_others(photos):
    everything = names(plan_items([photos]))
    rows = [{"path": label} for label in reversed(list(everything))]
    manifest = photos / "list.jsonl"
    manifest.write_text("\n".join(map(json.dumps, rows)))
    assert names(plan_items([manifest])) == everything
    (photos / "zebra.png").write_bytes(b"x")
    assert {**everything, "zebra.png": "zebra"} == names(plan_items([photos]))


def test_globs_files_and_several_folders(photos, tmp_path):
    assert labels(plan_items([f"{photos}/**/*.jpg"])) == ["b/mug.jpg"]
    assert labels(plan_items([f"{photos}/*/mug.png"])) == ["a/mug.png", "b/mug.png"]
    assert labels(plan_items([photos / "mug.png"])) == ["mug.png"]
    both = names(plan_items([photos / "a", photos / "b"]))
    assert both["a/mug.png"] == "a_mug" and len(set(both.values())) == 3
    assert labels(plan_items([photos / "mug.png", f"{photos}/m*.png"])) == ["mug.png"]


def test_outputs_and_textures_are_no_inputs(photos):
    (photos / "out/mug").mkdir(parents=True)
    (photos / "out/mug/preview.png").write_bytes(b"x")
    (photos / "old/.batch").mkdir(parents=True)
    (photos / "old/preview.png").write_bytes(b"x")
    (photos / "chair.obj").write_text("mtllib chair.mtl\nv 0 0 0\n")
    (photos / "chair.mtl").write_text("newmtl a\nmap_Kd tex/My%20Wood.png\n")
    (photos / "tex").mkdir()
    (photos / "tex/my wood.png").write_bytes(b"x")
    items = plan_items([photos], out=photos / "out")
    assert labels(items) == ["a/mug.png", "b/mug.jpg", "b/mug.png", "chair.obj", "mug.png"]
    assert labels(plan_items([photos], out=photos / "out", only="mesh")) == ["chair.obj"]


def test_csv_rows_have_options_of_their_own_on_top_of_the_command(photos):
    table = photos / "list.csv"
    table.write_text(
        "\ufeffpath,name,height,mass,material,seed,preset,texture.size,units\n"
        "# a comment\n"
        "mug.png,,0.095,,ceramic,,,,\n"
        'a/mug.png,"red, big mug",,1e-1,,7,fast,2048,\n',
        encoding="utf-8",
    )
    second, first = plan_items([table], options={"physics": {"material": "steel"}})
    assert first.config.physics.height == 0.095 and first.config.physics.material == "ceramic"
    assert second.config.physics.material == "steel" and second.config.physics.mass == 0.1
    assert second.config.seed == 7 and second.config.texture.size == 2048
    assert second.config.geometry == load_preset("fast").geometry
    assert second.name.startswith("red_big_mug")


def test_jsonl_rows_may_nest_and_one_photo_may_stand_twice(photos):
    manifest = photos / "list.jsonl"
    rows = [{"path": "mug.png", "seed": 1}, {"path": "mug.png", "seed": 2},
            {"path": "mug.png", "seed": 2}, {"path": "a/mug.png", "texture": {"size": 128}}]  # fmt: skip
    manifest.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    items = plan_items([manifest])
    assert len(items) == 3 and len({item.name for item in items}) == 3
    assert items[0].config.texture.size == 128


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("path,heigth\nmug.png,1\n", ConfigError, "Did you mean 'height'"),
        ("path,texture.sise\nmug.png,1\n", ConfigError, "Did you mean 'texture.size'"),
        ("file\nmug.png\n", ConfigError, "no column `path`"),
        ("path,height\nmug.png,tall\n", ConfigError, "list.csv line 2: .*physics.height"),
        ("path,height\nmug.png,-1\n", ConfigError, "wanted a finite number > 0"),
        ("path,material\nmug.png,steal\n", ConfigError, "steel"),
        ("path,preset\nmug.png,fastt\n", ConfigError, "Did you mean 'fast'"),
        ("path,units\nmug.png,km\n", ConfigError, "km"),
        ("path\nmug.txt\n", InputError, "list.csv line 2: .*wanted .*png"),
        ("path,mass\nmug.png,1,2\n", InputError, "3 cells"),
        ("path,mass\n,2\n", InputError, "no path"),
        ("path\n", InputError, "no rows"),
    ],
)
def test_wrong_rows_are_told_before_any_work(photos, text, error, said):
    (photos / "list.csv").write_text(text)
    with pytest.raises(error, match=said):
        plan_items([photos / "list.csv"])


def test_missing_and_empty_inputs_are_told(photos, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="the output is the input folder"):
        plan_items([photos], out=photos)
    for place, said in ((tmp_path / "nowhere", "no such file"), (tmp_path / "empty", "no images"),
                        (f"{photos}/*.exr", "no image or mesh matches")):  # fmt: skip
        with pytest.raises(InputError, match=said):
            plan_items([place])
    ran = CliRunner().invoke(main, ["batch", str(tmp_path / "nowhere"), "-o", str(tmp_path / "o")])
    assert ran.exit_code == 2 and "no such file" in ran.output


def test_missing_file_of_a_manifest_is_an_item_that_fails(photos):
    (photos / "list.csv").write_text("path\nmug.png\ngone.png\n")
    assert labels(plan_items([photos / "list.csv"])) == ["gone.png", "mug.png"]


def test_dry_run_shows_names_and_options_and_writes_nothing(photos, tmp_path):
    (photos / "list.csv").write_text("path,mass\nmug.png,0.3\n")
    ran = CliRunner().invoke(main, ["batch", str(photos / "list.csv"), "-o", str(tmp_path / "o"),
                                    "--dry-run", "--material", "steel"])  # fmt: skip
    assert ran.exit_code == 0, ran.output
    assert "# mug  photo  mug.png  {'physics': {'mass': 0.3}}" in ran.output
    assert "material: steel" in ran.output and not (tmp_path / "o").exists()
