"""Sixty secrets of fifteen kinds, made up from a seed: none is real, and none stands in the source."""

import base64
import random
import string

__all__ = ["SECRETS"]

_RANDOM = random.Random(4)
_ALNUM = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits


def _of(signs: str, count: int) -> str:
    # At least a digit and letters of both cases, as generators of keys give.
    while True:
        made = "".join(_RANDOM.choice(signs) for _ in range(count))
        if any(sign.isdigit() for sign in made) and any(sign.isalpha() for sign in made):
            return made


def _jwt() -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    return f"{head}.{_of(_ALNUM, 40)}.{_of(_ALNUM, 43)}"


def _pem() -> str:
    kind = _RANDOM.choice(["RSA ", "EC ", "OPENSSH ", ""])
    body = "\n".join(_of(_ALNUM + "+/", 64) for _ in range(3))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


_KINDS = {
    "openai": lambda: f"sk-proj-{_of(_ALNUM, 40)}",
    "anthropic": lambda: f"sk-ant-api03-{_of(_ALNUM, 60)}",
    "github": lambda: f"gh{_RANDOM.choice('pousr')}_{_of(_ALNUM, 36)}",
    "gitlab": lambda: f"glpat-{_of(_ALNUM, 20)}",
    "aws key id": lambda: f"AKIA{_of(string.ascii_uppercase + string.digits, 16)}",
    "aws secret": lambda: _of(_ALNUM + "+/", 40),
    "slack": lambda: f"xoxb-{_RANDOM.randrange(10**10, 10**11)}-{_of(_ALNUM, 24)}",
    "stripe": lambda: f"{_RANDOM.choice(['sk', 'rk'])}_live_{_of(_ALNUM, 24)}",
    "google": lambda: f"AIza{_of(_ALNUM, 35)}",
    "jwt": _jwt,
    "private key": _pem,
    "sendgrid": lambda: f"SG.{_of(_ALNUM, 22)}.{_of(_ALNUM, 43)}",
    "hugging face": lambda: f"hf_{_of(_ALNUM, 34)}",
    "a vendor nobody knows": lambda: f"tvly-{_of(_LOWER, 32)}",
    "telegram": lambda: f"{_RANDOM.randrange(10**8, 10**9)}:{_of(_ALNUM, 35)}",
}

SECRETS: list[tuple[str, str]] = [(kind, make()) for kind, make in _KINDS.items() for _ in range(4)]
