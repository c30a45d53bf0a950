"""`seed3d evaluate physics`: limits, resuming and what is chosen. Oracles: the system's own process table."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from seed3d.errors import InputError
from seed3d.evaluate import physics
from seed3d.evaluate.physics import Options, adopt, group_cpu_s, judge_all, summarise
from seed3d.evaluate.physics_inputs import Item, spread


def item(key: str, kind: str = "package") -> Item:
    return Item(key, kind, key, lambda folder: folder)


def alive(pid: int) -> bool:
    """A zombie that nobody reaps here is as good as gone."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.is_file() and stat.read_text().rpartition(")")[2].split()[0] not in ("Z", "X")


SPIN = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid()))\nwhile True: {0}"


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="reads /proc")
@pytest.mark.parametrize(("body", "limit", "said"), [
    ("pass", 1.0, "processor time"), ("time.sleep(1)", 0.8, "no answer in 8 s")])  # fmt: skip
def test_a_grandchild_past_the_limit_is_killed(tmp_path, body, limit, said):
    mark = tmp_path / "pid"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SPIN.format(body)!r}, {str(mark)!r}])"
    code, text, _, _ = physics._run([sys.executable, "-c", child], limit)
    assert code is None and said in text
    assert physics._state(code, text, False) == "hung"
    for _ in range(50):
        if not alive(int(mark.read_text())):
            break
        time.sleep(0.1)
    assert not alive(int(mark.read_text()))


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="reads /proc")
def test_processor_time_of_a_group_agrees_with_the_systems_clock():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    own = sum(os.times()[:4])
    assert group_cpu_s(os.getpgrp()) >= own - 0.05


def test_output_exit_code_and_processor_time_of_a_command_that_ends():
    code, text, seconds, cpu = physics._run([sys.executable, "-c", "print('hm'); exit(3)"], 60.0)
    assert (code, text.strip()) == (3, "hm")
    assert 0.0 < cpu <= seconds + 0.5


def test_a_limit_takes_as_many_of_each_kind_and_keeps_the_order():
    items = [item(f"f{i}", "furniture") for i in range(20)]
    items += [item(f"p{i}", "procedural") for i in range(5)] + [item("a"), item("b")]
    chosen = spread(items, 9)
    kinds = [i.kind for i in chosen]
    assert [kinds.count(k) for k in ("furniture", "procedural", "package")] == [4, 3, 2]
    assert chosen == [i for i in items if i in chosen]
    assert spread(items, None) == items
    assert {i.kind for i in spread(items, 3)} == {"furniture", "procedural", "package"}


def test_a_second_run_takes_finished_rows_and_redoes_other_presets(tmp_path, monkeypatch):
    asked = []

    def judge(one: Item, options: Options) -> dict:
        asked.append((one.key, options.preset))
        return {"key": one.key, "kind": one.kind, "state": "refused", "seconds": 0.0}

    monkeypatch.setattr(physics, "judge", judge)
    first = list(judge_all([item("a")], Options(tmp_path), 1))
    both = list(judge_all([item("a"), item("b")], Options(tmp_path), 2))
    assert asked == [("a", "default"), ("b", "default")]
    assert both[0] == first[0] == json.loads((tmp_path / "a" / "row.json").read_text())
    list(judge_all([item("a")], Options(tmp_path, "fast"), 1))
    assert asked[-1] == ("a", "fast")
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"items": [*both, {**both[0], "key": "c", "preset": "fast"}]}))
    elsewhere = Options(tmp_path / "elsewhere")
    assert (adopt(table, elsewhere), adopt(table, elsewhere)) == (2, 0)
    assert list(judge_all([item("a"), item("b")], elsewhere, 1)) == both
    assert asked[-1] == ("a", "fast")  # not judged again
    list(judge_all([item("c")], elsewhere, 1))
    assert asked[-1] == ("c", "default")  # another preset's row isn't taken
    other = Options(tmp_path)  # where "a" was made with another preset since
    assert adopt(table, other) == 1
    assert list(judge_all([item("a")], other, 1)) == first and asked[-1] == ("c", "default")
    total = summarise(both)
    assert (total["count"], total["refused"], total["crashed"]) == (2, 2, 0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"items": [1]}', '{"items": [{"key": "a"}]}',
    '{"items": [{"key": "../x", "kind": "k", "state": "refused", "seconds": 0, "preset": "default", "checkers": true}]}'])  # fmt: skip
def test_what_is_no_table_of_rows_is_refused(tmp_path, text):
    table = tmp_path / "table.json"
    table.write_text(text)
    with pytest.raises(InputError, match="wanted"):
        adopt(table, Options(tmp_path / "out"))
    assert not (tmp_path / "out").exists() and not (tmp_path / "x").exists()


@pytest.mark.parametrize("length_m", [0.3, None])
def test_a_checker_that_guesses_the_kind_from_the_name_is_told_the_true_one(tmp_path, length_m):
    pytest.importorskip("simcheck")
    pytest.importorskip("simready.validate")
    from test_verify import box_body, write

    folder = write(box_body(), tmp_path / "asset" / "spice_tower")
    one = Item("k", "furniture", "Spice tower", lambda _: folder, length_m)
    row = physics.judgements(folder, one)
    guessed = "a 'tower' is usually" in row["simcheck_urdf"]
    assert guessed == (length_m is None)
    assert ("category" in row["simcheck_urdf"]) == guessed
    assert row.get("simcheck_category") == (None if guessed else "Spice tower")
