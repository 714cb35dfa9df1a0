"""Which words of a text would be known again elsewhere? Ids, numbers, names; short common words would not.

A text becomes a set of tokens, in lower case and plain number spelling (`$19.50` and `19.5` are one). Scripts that set
no spaces between words are cut into pieces of two and of four characters. Keys of JSON objects are left out: they
belong to a tool, not to its answer.
"""

from collections.abc import Iterable, Iterator
from string import ascii_letters, digits

from analyzer.pattern import pattern
from analyzer.remembered import remembered
from analyzer.session.model import Json
from analyzer.timeline.outcome import unblocked

__all__ = ["Weight", "is_piece", "sequence", "text_in", "tokens", "weight"]

Weight = int
"""0: says nothing by itself. 1: a word. 2: a number or an id that stands for itself."""

_WORDS = pattern(r"[^\W_]+(?:[._:@/\\,'\u2019-]+[^\W_]+)*")
_ATOMS = pattern(r"[^\W_]+")
_JOINTS = "._:@/\\,'-"
_LETTERS = f"{ascii_letters}{digits}".encode()
_TO_SPACES = bytes(sign if sign in _LETTERS + _JOINTS.encode() else 32 for sign in range(256))
_UNJOINED = _LETTERS + b" "
_TO_ATOMS = bytes(sign if sign in _LETTERS else 32 for sign in range(256))
_NUMBER = pattern(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+\.[0-9]+")
# Han, kana, Thai, Lao, Burmese, Khmer: words follow each other without a space.
_UNSPACED = pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+"
)
_GRAMMAR = pattern("[\u3040-\u309f]+")  # hiragana alone: endings and particles
_PAIR, _PHRASE = 2, 4
_WORD = 4  # letters; shorter ones are in every text
_ID = 3  # characters of a number or an id
_YEAR = pattern(r"(?:19|20)[0-9]{2}")
_SMALL_NUMBER = 3  # digits: prices, counts and codes of that size meet by accident
_PATH_SIGNS = frozenset("@/\\:_")
_SHORTEST_PATH = 6

_COMMON = frozenset(  # three hundred words that stand in any text
    """
    about above added after again against already also although always among another answer anything around available
    back based because been before being below best better between both call called can't cannot case check code come
    contains content correct could data date details didn't different does doesn't doing done don't down during each
    either else empty enough error even every example exists failed false fetched file find first following found from
    full further general give given goes good great have having help here however http https image including index
    info information instead into item items just keep know known last later least less like line list long look made
    make makes many maybe message might more most much must name need needs never next none note nothing null number
    okay only onto open order other others over page part please point possible provide provided query read ready
    really request response result results returned returns right same search second seen sent several shall should
    show shows since some something status step still string success successful successfully such sure take task tell
    text than that that's their them then there these they thing things this those three through time title today
    together took tool total true type under undefined unknown until update updated upon used user uses using value
    values various very want well were what when where whether which while whole will with within without word work
    would year years your
    """.split()  # noqa: SIM905  # a list of them would be a page
)


def text_in(value: Json) -> str:
    """Return the texts and numbers of a JSON value, keys left out, a line each; JSON in a text is opened."""
    if isinstance(value, str):
        opened = unblocked(value)
        if isinstance(opened, str):
            return value
        value = opened
    return "\n".join(_leaves(value))


def tokens(text: str) -> set[str]:
    """Return the tokens of a text, common words left out."""
    folded = text.casefold()
    if folded.isascii():
        return _spaced_ascii(folded) - _COMMON
    found = _spaced(_UNSPACED.sub(" ", folded))
    for run in _UNSPACED.findall(folded):
        found.update(_pieces(run))
    return found - _COMMON


def sequence(text: str) -> list[str]:
    """Return the words of a text, or the characters of a script without spaces, in order."""
    folded = text.casefold()
    if folded.isascii():
        return _ATOMS.findall(folded)
    return _ATOMS.findall(_UNSPACED.sub(lambda run: f" {' '.join(run[0])} ", folded))


@remembered(65_536)
def weight(token: str) -> Weight:
    """Return how much it tells to meet a token again."""
    if token.isdigit() and token.isascii():
        return _number_weight(token)
    if is_piece(token):
        return int(len(token) >= _PHRASE and _GRAMMAR.fullmatch(token) is None)
    if not token.isalpha() and any(sign.isdigit() for sign in token):
        return 2 if len(token) >= _ID else 0
    if not _PATH_SIGNS.isdisjoint(token) and len(token) >= _SHORTEST_PATH:
        return 2
    return int(len(token) >= _WORD)


def is_piece(token: str) -> bool:
    """Return whether a token is a piece of a script that sets no spaces."""
    return not token.isascii() and _UNSPACED.match(token) is not None


def _number_weight(digits: str) -> Weight:
    if len(digits) > _SMALL_NUMBER:
        return 1 if _YEAR.fullmatch(digits) else 2
    return int(len(digits) > 1)


def _spaced(text: str) -> set[str]:
    found = set(_WORDS.findall(text))
    return _opened(found, [word for word in found if not word.isalnum()])


def _spaced_ascii(text: str) -> set[str]:
    """Return what `_spaced` does, of a text that is all ASCII: bytes are told apart faster than patterns are met."""
    spaced = text.encode().translate(_TO_SPACES)
    found = set(spaced.decode().split())
    if not spaced.translate(None, _UNJOINED):
        return found
    joined = found.difference(spaced.translate(_TO_ATOMS).decode().split())
    found -= joined
    inner = {word.strip(_JOINTS) for word in joined}
    inner.discard("")
    return _opened(found | inner, [word for word in inner if not word.isalnum()])


def _opened(found: set[str], joined: Iterable[str]) -> set[str]:
    """Return words, the parts of those that are joined among them, numbers in their plain spelling."""
    for word in joined:
        if _NUMBER.fullmatch(word):
            found.discard(word)
            found.add(_plain_number(word))
        else:
            found.update(_ATOMS.findall(word))
    return found


def _plain_number(word: str) -> str:
    plain = word.replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _pieces(run: str) -> Iterator[str]:
    if len(run) <= _PAIR:
        yield run
        return
    for size in (_PAIR, _PHRASE):
        for start in range(len(run) - size + 1):
            yield run[start : start + size]


def _leaves(value: Json) -> list[str]:
    found: list[str] = []
    stack: list[Json] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item
        elif item is not None and not isinstance(item, bool):
            found.append(str(item))
    return found
