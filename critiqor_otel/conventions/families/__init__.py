"""One table a family of attribute names; no table knows another. `conventions.registry` lists them in order."""

__all__: list[str] = []
