"""A certification as a picture: an SVG badge that needs no network, the label left, the level right in its colour."""

from xml.sax.saxutils import escape

from analyzer.evaluation.certification import COLOURS, ReliabilityCertification, badge_label

__all__ = ["badge_svg"]

_LABEL = "Critiqor"
_HEIGHT, _MARGIN = 20, 6
_CHARACTER = 6.6  # pixels of an average character of 11-pixel Verdana; textLength makes it exact
_DARKER = {"lightgrey": "#9f9f9f", "gold": "#b8860b", "c0c0c0": "#8a8d91"}  # as dark as white text needs


def badge_svg(certification: ReliabilityCertification) -> str:
    """Return the badge as an SVG document."""
    level = badge_label(certification.certification_level, certification.percentile)
    colour = _colour(COLOURS[certification.certification_level])
    left, right = _width(_LABEL), _width(level)
    title = escape(f"{_LABEL}: {level}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" '
        f'aria-label="{title}"><title>{title}</title>'
        f'<rect width="{left}" height="{_HEIGHT}" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{colour}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{_text(_LABEL, left / 2, left)}{_text(level, left + right / 2, right)}</g></svg>\n"
    )


def _text(text: str, middle: float, width: int) -> str:
    length = width - 2 * _MARGIN
    return f'<text x="{middle:g}" y="14" textLength="{length}">{escape(text)}</text>'


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER) + 2 * _MARGIN


def _colour(badge: str) -> str:
    """Return a colour of the Markdown badge as SVG spells it."""
    is_hex = all(character in "0123456789abcdef" for character in badge)
    return _DARKER.get(badge, f"#{badge}" if is_hex else badge)
