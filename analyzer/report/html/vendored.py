"""Which front-end packages are part of a page: byte for byte as published, named with version, licence and digest.

`make vendor` fetches them again by name and version, and refuses what has another digest.
"""

from typing import NamedTuple

__all__ = ["VENDORED", "Vendored"]


class Vendored(NamedTuple):
    """One file of a published package."""

    file: str
    """Its name in `vendor/`."""
    package: str
    """On the npm registry."""
    version: str
    licence: str
    source: str
    """Where it lies in the package."""
    sha256: str
    licence_source: str = "LICENSE"
    """Where its licence lies in the package; in `vendor/` it is `<package>.LICENSE.txt`."""

    @property
    def licence_file(self) -> str:
        """The name of its licence in `vendor/`."""
        return f"{self.package.rpartition('/')[2]}.LICENSE.txt"


VENDORED: tuple[Vendored, ...] = (
    Vendored(
        "preact.js",
        "preact",
        "10.29.8",
        "MIT",
        "dist/preact.min.umd.js",
        "aa558e32247d4ccea18c5addbb0311bc1771bf39734185be01dc0c3c4cf3fd6d",
    ),
    Vendored(
        "preact-hooks.js",
        "preact",
        "10.29.8",
        "MIT",
        "hooks/dist/hooks.umd.js",
        "5c29238e5dc99df306d7f7fff038591a397cfcfabb59f81fbdef43d670aa0566",
    ),
    Vendored(
        "uplot.js",
        "uplot",
        "1.6.32",
        "MIT",
        "dist/uPlot.iife.min.js",
        "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    ),
    Vendored(
        "uplot.css",
        "uplot",
        "1.6.32",
        "MIT",
        "dist/uPlot.min.css",
        "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    ),
    Vendored(
        "dagre.js",
        "@dagrejs/dagre",
        "3.1.3",
        "MIT",
        "dist/dagre.min.js",
        "54a503e346f93ca0bb10abe7999587e037262935687aca45eb4e4b0f64bbb578",
    ),
    Vendored(
        "panzoom.js",
        "@panzoom/panzoom",
        "4.6.2",
        "MIT",
        "dist/panzoom.min.js",
        "3ce354ef7b493efb62a4d4acaaf86fa2d6027eb629857a4e144041de1a112c1e",
        "MIT-License.txt",
    ),
)
"""In the order in which a page loads them: views, charts, the layout of graphs, moving about in them."""
