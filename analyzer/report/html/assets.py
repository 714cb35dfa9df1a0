"""What every page is made of: templates, our script and style, the vendored packages, and the policy over them."""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jinja2

from analyzer.pattern import pattern
from analyzer.report.html.titles import title_of
from analyzer.report.html.vendored import VENDORED
from analyzer.report.plain import cut, one_line

__all__ = ["Assets", "assets_of", "licences", "policy", "template"]

_HERE = Path(__file__).parent
_LONGEST = 1_500  # characters of a text that is no content: names, descriptions
_SOURCE_MAP = pattern(r"^/[/*][#@] sourceMappingURL=.*$", re.MULTILINE)  # a map would be another file


class Assets(NamedTuple):
    """What a page holds besides its contents; each text stands in an element of its own."""

    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    policy: str
    """The value of Content-Security-Policy."""


@cache
def assets_of(scripts: tuple[str, ...], *, vendored: tuple[str, ...] = (), asks: bool = False) -> Assets:
    """Return style, vendored packages and our scripts by name; with `asks` the page may ask its own server."""
    packages = [row.file for row in VENDORED if row.file in vendored]
    css = [_text("vendor", name) for name in packages if name.endswith(".css")] + [_text("static", "style.css")]
    code = [_text("vendor", name) for name in packages if name.endswith(".js")]
    code += [_text("static", name) for name in scripts]
    return Assets(
        styles=tuple(css),
        scripts=tuple(code),
        policy=policy(styles=css, scripts=code, asks=asks),
    )


def policy(*, styles: Iterable[str], scripts: Iterable[str], asks: bool) -> str:
    """Return a policy by which a page runs these scripts alone, loads nothing and, unless it `asks`, calls nobody."""
    rules: Sequence[tuple[str, Iterable[str]]] = (
        ("default-src", ("'none'",)),
        ("script-src", map(_digest, scripts)),
        ("style-src", map(_digest, styles)),
        ("img-src", ("data:",)),
        ("connect-src", ("'self'" if asks else "'none'",)),
        ("base-uri", ("'none'",)),
        ("form-action", ("'none'",)),
        ("require-trusted-types-for", ("'script'",)),
        ("trusted-types", ("'none'",)),
    )
    return "; ".join(f"{name} {' '.join(values)}" for name, values in rules)


@cache
def licences() -> tuple[tuple[str, str], ...]:
    """Return the licence of each vendored package, which a page that holds the package must hold too."""
    found = {f"{row.package} {row.version}": _text("vendor", row.licence_file) for row in VENDORED}
    return tuple(found.items())


@cache
def template(name: str) -> jinja2.Template:
    """Return a template; every value put into it is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["line"] = _line
    environment.filters["title_of"] = title_of
    return environment.get_template(name)


def _line(text: str) -> str:
    return cut(one_line(text[: 2 * _LONGEST]), _LONGEST)


@cache
def _text(folder: str, name: str) -> str:
    return _SOURCE_MAP.sub("", (_HERE / folder / name).read_text(encoding="utf-8")).strip()


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
