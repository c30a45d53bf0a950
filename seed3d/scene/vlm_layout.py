"""What stands on what in a picture of several objects, asked of a vision-language model.

Off unless the user asks for it; the same endpoint as for sizes (`seed3d.chat`). Where nothing
else tells the objects apart, it is asked for their boxes too. Answers are checked against what
they must be and against the picture; whoever asks decides what a refused one means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seed3d.chat import Refused, ask
from seed3d.config import VlmConfig
from seed3d.scene.segment import MOST

Box = tuple[float, float, float, float]
"""Left, top, right, bottom [pixel]."""
GRID = 1000
"""Boxes are told in shares of the picture's sides, times this."""
SMALLEST = 10
"""Least side of a box, in the same unit."""
SAME = 0.85
"""Two boxes that share this much of their union are one object told twice."""
_NAME_LETTERS = 40
_TASK = (
    "The picture shows several objects on a floor or table. For each object say what it is "
    "(name, in a word or two) and what it stands on (on): 0 for the floor or table, or the "
    "number of the object that carries it. "
)
_GIVEN = (
    "The objects are marked with numbered frames: {frames} (left, top, right, bottom in "
    "thousandths of the picture). Answer for each of these numbers once, and for no others."
)
_FIND = (
    "List every object that is wholly visible, at most {most}, without the floor or table; their "
    "numbers are their places in your list, from 1. box is the object's tight frame: left, top, "
    "right, bottom in thousandths of the picture."
)


@dataclass(frozen=True)
class ToldLayout:
    """A model's answer, checked. Objects in the order they were asked for, or told."""

    model: str
    boxes: tuple[Box, ...]
    names: tuple[str, ...]
    on: tuple[int | None, ...]
    """Index of the object that carries each; None: the floor or table."""

    def ordered(self, order: Sequence[int]) -> ToldLayout:
        """Return the objects in another order (old indices)."""
        place = {old: new for new, old in enumerate(order)}
        on = [self.on[i] for i in order]
        return ToldLayout(
            self.model, tuple(self.boxes[i] for i in order), tuple(self.names[i] for i in order),
            tuple(None if o is None else place[o] for o in on),
        )  # fmt: skip


def ask_layout(rgb: np.ndarray, boxes: Sequence[Box], config: VlmConfig) -> ToldLayout:
    """Ask for a picture's layout.

    Args:
        rgb: (H, W, 3) uint8 sRGB.
        boxes: Of the objects to ask about [pixel]; none: the model finds the objects.
        config: The endpoint.

    Raises:
        ConfigError: The endpoint isn't an http(s) URL, or the named key isn't in the environment.
        Refused: No answer, or one that can't be true; the message says why.
    """
    height, width = rgb.shape[:2]
    sides = np.array([width, height, width, height], float)
    if len(boxes):
        told = [_thousandths(box, sides) for box in boxes]
        frames = "; ".join(f"{i}: {', '.join(map(str, b))}" for i, b in enumerate(told, 1))
        prompt, picture = _TASK + _GIVEN.format(frames=frames), _marked(rgb, boxes)
    else:
        prompt, picture = _TASK + _FIND.format(most=MOST), rgb
    schema = _schema(len(boxes))
    answer = ask(picture / np.float32(255.0), prompt, schema, config, max_tokens=60 * MOST)
    rows = _rows(answer["objects"], set(schema["properties"]["objects"]["items"]["required"]))
    if len(boxes):
        rows = _numbered(rows, len(boxes))
        found = [tuple(float(v) for v in box) for box in boxes]
    else:
        found = [tuple((np.array(b) * sides / GRID).tolist()) for b in _boxes(rows)]
    names = tuple(_name(row["name"]) for row in rows)
    on = _supports(rows, found)
    return ToldLayout(config.model, tuple(found), names, on)  # pyright: ignore


def _schema(count: int) -> dict[str, Any]:
    """Of the answer about `count` given objects; 0: about those that the model finds."""
    number = {"type": "integer", "minimum": 1, "maximum": max(count, 1)}
    side = {"type": "integer", "minimum": 0, "maximum": GRID}
    first: dict[str, Any] = {"number": number} if count else {
        "box": {"type": "array", "items": side, "minItems": 4, "maxItems": 4}
    }  # fmt: skip
    properties = {
        **first,
        "name": {"type": "string"},
        "on": {"type": "integer", "minimum": 0, "maximum": count or MOST},
    }
    one = {"type": "object", "properties": properties, "required": list(properties),
           "additionalProperties": False}  # fmt: skip
    return {
        "type": "object",
        "properties": {"objects": {"type": "array", "items": one, "maxItems": count or MOST}},
        "required": ["objects"],
        "additionalProperties": False,
    }


def _rows(objects: Any, keys: set[str]) -> list[dict[str, Any]]:
    if not isinstance(objects, list) or not 1 <= len(objects) <= MOST:
        got = len(objects) if isinstance(objects, list) else type(objects).__name__
        raise Refused(f"the answer's objects are {got}; wanted a list of 1 to {MOST}")
    for i, row in enumerate(objects, 1):
        if not isinstance(row, dict) or set(row) != keys:
            got = sorted(row) if isinstance(row, dict) else type(row).__name__
            raise Refused(f"object {i} of the answer has {got}; wanted {sorted(keys)}")
    return objects


def _numbered(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    numbers = [row["number"] for row in rows]
    if not all(_integer(n) for n in numbers) or sorted(numbers) != list(range(1, count + 1)):
        raise Refused(f"the answer tells of objects {numbers}; wanted each of 1 to {count} once")
    return sorted(rows, key=lambda row: row["number"])


def _boxes(rows: list[dict[str, Any]]) -> list[list[int]]:
    boxes = [row["box"] for row in rows]
    for i, box in enumerate(boxes, 1):
        sides = isinstance(box, list) and len(box) == 4 and all(_integer(v) for v in box)
        if not sides or not (
            0 <= box[0] <= box[2] - SMALLEST <= GRID and 0 <= box[1] <= box[3] - SMALLEST <= GRID
            and max(box) <= GRID
        ):  # fmt: skip
            raise Refused(
                f"the box of object {i} is {box}; wanted left, top, right, bottom within 0 to "
                f"{GRID}, at least {SMALLEST} wide and high"
            )
        for j, other in enumerate(boxes[: i - 1], 1):
            if _overlap(box, other) > SAME:
                raise Refused(f"objects {j} and {i} have the same box {box}")
    return boxes


def _supports(
    rows: list[dict[str, Any]], boxes: Sequence[Sequence[float]]
) -> tuple[int | None, ...]:
    """Check what stands on what, against the picture too."""
    on: list[int | None] = []
    for i, row in enumerate(rows):
        number = row["on"]
        if not _integer(number) or not 0 <= number <= len(rows) or number == i + 1:
            raise Refused(
                f"object {i + 1} stands on {number!r}; wanted 0 (the floor) or another object of "
                f"1 to {len(rows)}"
            )
        on.append(number - 1 if number else None)
    for i, below in enumerate(on):
        seen = {i}
        while below is not None:
            if below in seen:
                raise Refused(f"object {i + 1} would stand on itself, by way of others")
            seen.add(below)
            below = on[below]
    for i, below in enumerate(on):
        if below is not None:
            _plausible(i, boxes[i], below, boxes[below])
    return tuple(on)


def _plausible(i: int, box: Sequence[float], j: int, carrier: Sequence[float]) -> None:
    middle = (box[0] + box[2]) / 2
    if box[3] >= carrier[3]:
        raise Refused(f"object {i + 1} can't stand on {j + 1}: its foot is lower in the picture")
    if box[3] < carrier[1] - 0.1 * (carrier[3] - carrier[1]):
        raise Refused(f"object {i + 1} can't stand on {j + 1}: it is above it, not on it")
    if not carrier[0] <= middle <= carrier[2]:
        raise Refused(f"object {i + 1} can't stand on {j + 1}: it is beside it in the picture")


def _name(text: Any) -> str:
    words = " ".join(str(text).split()) if isinstance(text, str) else ""
    if not words or not words.isprintable():
        raise Refused(f"an object's name is {text!r}; wanted a word")
    return words[:_NAME_LETTERS]


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _overlap(a: Sequence[float], b: Sequence[float]) -> float:
    """Intersection over union of two boxes."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(wide, 0) * max(high, 0)
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return both / (sum(areas) - both)


def _thousandths(box: Box, sides: np.ndarray) -> list[int]:
    return np.rint(np.array(box) / sides * GRID).astype(int).tolist()


def _marked(rgb: np.ndarray, boxes: Sequence[Box]) -> np.ndarray:
    """The picture with numbered frames (set-of-mark prompting, Yang et al. 2023)."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(rgb)
    draw = ImageDraw.Draw(image)
    unit = max(min(image.size) // 160, 2)
    font = ImageFont.load_default(size=7.0 * unit)
    for number, box in enumerate(boxes, 1):
        draw.rectangle(box, outline=(230, 20, 60), width=unit)
        place = draw.textbbox((box[0] + unit, box[1] + unit), str(number), font=font)
        draw.rectangle(place, fill=(230, 20, 60))
        draw.text((box[0] + unit, box[1] + unit), str(number), fill=(255, 255, 255), font=font)
    return np.asarray(image)
