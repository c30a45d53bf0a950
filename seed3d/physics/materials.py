"""Tables of materials and categories: typed rows, read strictly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from seed3d.config import data_dir
from seed3d.errors import ConfigError, near_miss

Build = Literal["solid", "outer", "shell", "hollow"]


@dataclass(frozen=True)
class Material:
    """A row of configs/materials.yaml."""

    name: str
    density: float
    """Of the material itself [kg/m3]."""
    friction: float
    """Coulomb coefficient against a hard dry floor, unitless."""
    rolling: float
    """Rolling resistance, share of the normal load, unitless."""
    restitution: float
    """Of a whole object on a hard floor, in [0, 1)."""
    roughness: float
    """Prior of the surface, glTF's meaning, in [0, 1]."""
    metallic: float
    """Prior of the surface, glTF's meaning, in [0, 1]."""
    wall: float
    """Usual wall of thin-walled goods [m]."""
    source: str


@dataclass(frozen=True)
class Span:
    """A number with its 80 % interval, in one unit."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Category:
    """A row of configs/categories.yaml."""

    name: str
    longest: Span
    """Longest side of the bounding box [m]."""
    material: str
    """Usual row of the materials table."""
    build: Build
    """How the mass follows from the shape; see `seed3d.physics.body.material_volume`."""
    fill: Span
    """Share of that build's volume which is material, unitless."""
    aliases: tuple[str, ...]
    source: str


# (low, high): a value outside is a slip of the unit or of the pen.
_LIMITS = {
    "density": (1.0, 25_000.0),
    "friction": (0.01, 2.0),
    "rolling": (0.0, 0.2),
    "restitution": (0.0, 0.95),
    "roughness": (0.0, 1.0),
    "metallic": (0.0, 1.0),
    "wall": (1e-5, 0.1),
}


def material(name: str) -> Material:
    """Return the row of a material.

    Raises:
        ConfigError: No such row; names the nearest, or the choices.
    """
    rows = materials()
    if name not in rows:
        raise ConfigError(f"no material {name!r} in materials.yaml.{near_miss(name, rows)}")
    return rows[name]


def category(name: str) -> Category:
    """Return the row of a category, by its name or one of its aliases (``cup`` is a ``mug``).

    Raises:
        ConfigError: No such row; names the nearest, or the choices.
    """
    rows = categories()
    key = _alias_table().get(name, name)
    if key not in rows:
        choices = {*rows, *_alias_table()}
        raise ConfigError(f"no category {name!r} in categories.yaml.{near_miss(name, choices)}")
    return rows[key]


@cache
def materials() -> dict[str, Material]:
    """Return all materials by name, from the package's own table."""
    return read_materials(data_dir("configs") / "materials.yaml")


@cache
def categories() -> dict[str, Category]:
    """Return all categories by name, from the package's own table."""
    return read_categories(data_dir("configs") / "categories.yaml", frozenset(materials()))


@cache
def _alias_table() -> dict[str, str]:
    return {alias: row.name for row in categories().values() for alias in row.aliases}


def read_materials(path: Path) -> dict[str, Material]:
    """Read a materials table strictly.

    Raises:
        ConfigError: Not a mapping, a key missing or unknown, or a value out of range.
    """
    rows = {}
    for name, raw in _load(path).items():
        where = f"{path.name}: {name}"
        _check_keys(raw, {*_LIMITS, "source"}, set(), where)
        values = {key: _number(raw[key], key, where, *_LIMITS[key]) for key in _LIMITS}
        rows[name] = Material(name=name, source=_text(raw["source"], where), **values)
    return rows


def read_categories(path: Path, known_materials: frozenset[str]) -> dict[str, Category]:
    """Read a categories table strictly; `known_materials` are the rows it may name.

    Raises:
        ConfigError: Not a mapping, a key missing or unknown, a value out of range, an unknown
            material, an alias used twice, or no row "unknown".
    """
    rows: dict[str, Category] = {}
    seen: set[str] = set()
    for name, raw in _load(path).items():
        where = f"{path.name}: {name}"
        needed = {"longest", "material", "build", "fill", "source"}
        _check_keys(raw, needed, {"aliases"}, where)
        if raw["material"] not in known_materials:
            hint = near_miss(str(raw["material"]), known_materials)
            raise ConfigError(f"{where}: no material {raw['material']!r}.{hint}")
        if raw["build"] not in get_args(Build):
            wanted = ", ".join(get_args(Build))
            raise ConfigError(f"{where}: build is {raw['build']!r}; wanted one of {wanted}")
        aliases = tuple(str(a) for a in raw.get("aliases", ()))
        twice = seen.intersection({name, *aliases})
        if twice:
            raise ConfigError(f"{where}: {sorted(twice)} named twice; each name may stand once")
        seen.update({name, *aliases})
        rows[name] = Category(
            name=name,
            longest=_span(raw["longest"], "longest", where, 1e-3, 100.0),
            material=raw["material"],
            build=raw["build"],
            fill=_span(raw["fill"], "fill", where, 1e-4, 3.0),
            aliases=aliases,
            source=_text(raw["source"], where),
        )
    if "unknown" not in rows:
        raise ConfigError(f"{path.name}: got no row 'unknown'; every table needs one")
    return rows


def _load(path: Path) -> dict[str, Any]:
    import yaml

    if not path.is_file():
        raise ConfigError(f"no table {str(path)!r}; it belongs to the installation of seed3d")
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or not all(isinstance(row, dict) for row in data.values()):
        raise ConfigError(f"{path.name}: got {type(data).__name__}; wanted a mapping name: row")
    return data


def _check_keys(raw: dict[str, Any], needed: set[str], optional: set[str], where: str) -> None:
    for key in raw:
        if key not in needed | optional:
            hint = near_miss(str(key), needed | optional)
            raise ConfigError(f"{where}: unknown key {key!r}.{hint}")
    missing = needed - set(raw)
    if missing:
        raise ConfigError(f"{where}: missing {', '.join(sorted(missing))}")


def _number(value: Any, key: str, where: str, low: float, high: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        raise ConfigError(f"{where}: {key} is {value!r}; wanted a number in [{low:g}, {high:g}]")
    return float(value)


def _span(value: Any, key: str, where: str, low: float, high: float) -> Span:
    if not isinstance(value, list) or len(value) != 3:
        raise ConfigError(f"{where}: {key} is {value!r}; wanted [median, low, high]")
    median, lower, upper = (_number(v, key, where, low, high) for v in value)
    if not lower <= median <= upper:
        raise ConfigError(f"{where}: {key} is {value!r}; wanted low <= median <= high")
    return Span(median, lower, upper)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{where}: source is {value!r}; wanted words that say where it is from")
    return value
