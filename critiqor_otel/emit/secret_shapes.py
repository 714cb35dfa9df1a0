"""Which text is a secret, by its key or by its shape: the tables that redaction goes by.

By key catches what has no shape (a password); by shape catches what stands where no key tells (a URL, an exception's
message). Not caught: a secret without a telling key that looks like a plain word, number, hexadecimal digest or UUID;
one that is split over several values, or encoded once more (base64 of a password).
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

__all__ = ["REDACTED", "is_id_key", "is_secret_key", "redacted_id", "redacted_text"]

REDACTED = "[REDACTED]"

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset(
    [
        "password",
        "passwords",
        "passwd",
        "pwd",
        "passphrase",
        "passcode",
        "secret",
        "secrets",
        "token",
        "apikey",
        "authorization",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "bearer",
        "jwt",
        "dsn",
        "otp",
        "privatekey",
        "accesskey",
        "secretkey",
        "authtoken",
        "accesstoken",
        "refreshtoken",
        "clientsecret",
        "connectionstring",
        "setcookie",
        "sessionkey",
    ]
)
_SECRET_PAIRS = frozenset(
    {
        *(
            (first, "key")
            for first in [
                "api",
                "access",
                "private",
                "secret",
                "auth",
                "encryption",
                "signing",
                "account",
                "master",
                "ssh",
            ]
        ),
        ("connection", "string"),
        ("auth", "header"),
    }
)
# Keys of counts and of harmless things that hold a secret's word.
_HARMLESS = re.compile(
    r"(?i)[_.-](?:count|usage|limit|budget|spend|type|name|alias|id|email|route|length|policy|total)s?$"
    r"|(?:token|secret|cookie|password)(?:Count|Usage|Limit|Budget|Type|Name|Id|Length|Policy)$"
    r"|(?:max|min|input|output|total|prompt|completion|cached|reasoning)[_.-]?tokens?$"
)

_KEY_WORD = (
    r"(?:[\w.-]{0,40}(?:password|passwd|passphrase|passcode|secret|token|credential|cookie|api[_-]?key"
    r"|(?:access|private|account|signing|encryption|master|auth)[_-]?key)|pwd|dsn|sig|signature|X-Amz-Signature)"
)
# A value in the quotes it opens with (escaped ones too, for JSON inside JSON), or up to what ends a bare one.
_PAIR = re.compile(
    rf"(?i)(?<![\w-])(?P<key>{_KEY_WORD})(?P<between>\\*[\"']?\s{{0,3}}(?::|=>?|%3D)\s{{0,3}})"
    r"(?:(?P<quote>\\*[\"'])(?P<quoted>.{1,4000}?)(?P=quote)|(?P<bare>[^\s\"'\\,;&}\])<>]{3,}))",
    re.DOTALL,
)
_SAID = re.compile(r"(?i)\b(password|passphrase|passcode|api key|secret)( is | was )([^\s,;]{3,})")
_HEADER = re.compile(
    r"(?i)(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,20}(?:key|token|auth))(\s{0,3}:\s{0,3})"
    r"(?![\"'\\\s])([^\r\n\"']{4,})"
)
_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)([^\s/@\"'<>]{1,400})@")
_CREDENTIALS = re.compile(r"(?i)\b(bearer|basic|digest)(\s+)([A-Za-z0-9._~+/=-]{8,})")
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)", re.DOTALL
)

_VENDORS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web tokens
    r"|(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ABIA|ACCA)[A-Z0-9]{16}"  # AWS key ids
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}"  # Slack
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"  # Stripe
    r"|sk-[\w-]{16,}"  # OpenAI, Anthropic and those that copy them
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}"  # Google
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|[0-9]{8,10}:[\w-]{35}"  # SendGrid, Telegram
    r"|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}"  # Discord
    r"|(?:npm_|hf_|gsk_|r8_|pplx-|xai-|tvly-|dop_v1_|shp(?:at|ss|ca|pa)_|sq0[a-z]{3}-|lin_api_|key-)[\w-]{16,}"
    r"|pypi-[\w-]{16,}|AGE-SECRET-KEY-[A-Z0-9]{20,}"
    r")"
)
# A run that could be a key of a vendor nobody has heard of; `_looks_random` decides.
_RUN = re.compile(r"(?<![\w+/=.-])[A-Za-z0-9+_-][A-Za-z0-9+/_-]{19,511}={0,2}(?![\w])")
_HEX = re.compile(r"[0-9a-fA-F-]+")
_DIGEST = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![A-Za-z0-9])[0-9a-f]{24,}")
_WORDY = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}|[0-9]{4,}")
_PARTS = re.compile(r"[A-Za-z0-9]+")
_SWITCH = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")
_KNOWN_IDS = re.compile(
    r"(?:call|toolu|msg|run|thread|resp|chatcmpl|asst|req|fc|rs|step|conv|session|trace|span|item|batch|file|evt)[-_]"
)
_ENTROPY = 3.4  # bits a character; words have less
_MOSTLY = 0.6  # names are put together of words for more than that
_SHORTEST = 20
_LONG_PART, _SWITCHES = 16, 4  # of letters and digits without capitals; `gpt-4o-2024` stays below both

_LEAST_KEY = 15  # characters; no vendor's key is shorter
_LEAST = 8  # characters; no shape is shorter
_OF_KEYS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=.:-")
_AS_RUNS = bytes(ord("x") if byte in _OF_KEYS else ord(" ") for byte in range(256))
_LONG_RUN = b"x" * _LEAST_KEY


def is_secret_key(key: str) -> bool:
    """Return whether what stands under this key is a secret: `api_key`, `X-Auth-Token`, `dbPassword`."""
    words = [word.lower() for word in _WORDS.findall(key)]
    if _SECRET_WORDS.isdisjoint(words) and _SECRET_PAIRS.isdisjoint(pairwise(words)):
        return False
    return _HARMLESS.search(key) is None


def redacted_text(text: str) -> str:
    """Return the text with the secrets in it replaced by `[REDACTED]`.

    What most texts are is told apart first, since every text that leaves the process comes by here.
    """
    if len(text) < _LEAST:
        return text
    lower = text.lower()
    if _speaks_of_secrets(lower):
        for needles, pattern, replace in _TOLD:
            if any(needle in lower for needle in needles):
                text = pattern.sub(replace, text)
    if _LONG_RUN in text.encode(errors="replace").translate(_AS_RUNS):  # four times as fast as a pattern
        text = _RUN.sub(_run, _VENDORS.sub(_whole, text))
    return text


def redacted_id(text: str) -> str:
    """Return an id, which is random by nature, without what is a known kind of key or a credential in an address."""
    if len(text) < _LEAST_KEY or "://" in text:
        return redacted_text(text)
    return _VENDORS.sub(_whole, text)


def is_id_key(key: str) -> bool:
    """Return whether ids stand under this key: `gen_ai.tool.call.id`, `session_id`, `traceId`."""
    return key.endswith((".id", "_id", "Id", "_ids"))


def _speaks_of_secrets(lower: str) -> bool:
    """Return whether any needle of `_TOLD` is there; spelled out, this is six times as fast as asking in a loop."""
    return (
        ("pass" in lower or "secret" in lower or "token" in lower or "cookie" in lower or "key" in lower)
        or ("credential" in lower or "pwd" in lower or "dsn" in lower or "sig" in lower or "auth" in lower)
        or ("bearer" in lower or "basic" in lower or "digest" in lower or "x-" in lower or "://" in lower)
    )


def _whole(_: re.Match[str]) -> str:
    return REDACTED


def _pair(match: re.Match[str]) -> str:
    value = match["quoted"] if match["quote"] else match["bare"]
    if _HARMLESS.search(match["key"]) or value.startswith("[REDACTED") or _is_count(match["key"], value):
        return match[0]
    quote = match["quote"] or ""
    return f"{match['key']}{match['between']}{quote}{REDACTED}{quote}"


def _is_count(key: str, value: str) -> bool:
    return key.lower().endswith("token") and value.replace(".", "", 1).isdigit()


def _after_two(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}{REDACTED}"


def _run(match: re.Match[str]) -> str:
    return REDACTED if _looks_random(match[0]) else match[0]


def _userinfo(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}@"


def _looks_random(run: str) -> bool:
    """Return whether the run is no known kind of id, no digest, no path, and not put together of words."""
    body = _DIGEST.sub("", run.rstrip("="))
    if len(body) < _SHORTEST or _HEX.fullmatch(body) or _KNOWN_IDS.match(body) or _is_path(body):
        return False
    if all(any(map(kind, body)) for kind in (str.islower, str.isupper, str.isdigit)):
        in_words = sum(map(len, _WORDY.findall(body)))
        return in_words < len(body) * _MOSTLY and _entropy(body) >= _ENTROPY
    return any(len(part) >= _LONG_PART and len(_SWITCH.findall(part)) >= _SWITCHES for part in _PARTS.findall(body))


def _is_path(run: str) -> bool:
    return "/" in run and all(len(part) < _SHORTEST for part in run.split("/"))


def _entropy(text: str) -> float:
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


_Shape = tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str]]

_KEY_NEEDLES = ("pass", "secret", "token", "cookie", "credential", "key", "pwd", "dsn", "sig")
# In this order: what spans lines first, what is told by a word before it next. Needles are in lower case.
_TOLD: tuple[_Shape, ...] = (
    (("private key",), _PEM, _whole),
    (("://",), _USERINFO, _userinfo),
    (("authorization", "cookie", "x-"), _HEADER, _after_two),
    (_KEY_NEEDLES, _PAIR, _pair),
    (("bearer", "basic", "digest"), _CREDENTIALS, _after_two),
    (("pass", "api key", "secret"), _SAID, _after_two),
)
