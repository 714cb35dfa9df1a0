"""Which deeds does a text claim, and which tools could have done them? A table of deeds, in eight languages.

A claim is a deed told as done, by the agent (`I have cancelled the order`) or as a fact (`your order has been
cancelled`). What is planned, asked, denied or conditional is none.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from analyzer.pattern import pattern

__all__ = ["Claim", "Deed", "claims_in", "may_claim"]


_STEMS = (
    *("sent", "mailed", "notif", "messaged", "forwarded", "booked", "reserved", "scheduled", "cancel", "revoked"),
    *(
        "subscribed",
        "refund",
        "reimbursed",
        "credited",
        "deleted",
        "erased",
        "created",
        "opened",
        "filed",
        "registered",
    ),
    *("submitted", "logged", "raised", "updated", "changed", "modified", "switched", "ordered", "purchased", "paid"),
    *("placed", "transferred", "deployed", "pushed", "committed", "merged", "released", "watch", "view", "listen"),
    *("visit", "brows", "access", "contact", "called", "calling", "phon", "spoke", "search", "googl", "consult"),
    *("cross-ref", "ich habe", "j'ai", "enviado", "notificado", "envie", "inviato", "spedito", "ik heb", "reserv"),
    *("prenotato", "annullato", "rimborsato", "reembolsado", "eliminado", "borrado", "comprado", "pagado", "pedido"),
    *("已", "しました"),
)
"""One of these is in every text that claims a deed, in lower case."""


class Deed(Struct, frozen=True):
    """A kind of deed."""

    name: str
    tools: re.Pattern[str]
    """What stands in the name, arguments or result of a tool that may have done it; in lower case."""
    by_agent: re.Pattern[str]
    as_fact: re.Pattern[str] | None = None
    words: str = ""
    """Its participles in English, as a pattern."""
    others: tuple[str, ...] = ()
    """Its claims in other languages, as patterns."""


class Claim(Struct, frozen=True):
    """A deed that a sentence claims."""

    deed: Deed
    by_agent: bool
    """False: told as a fact, which a result or a user may have told before."""


_I_HAVE = (
    r"\b(?:i have|i've|i just|i already|i successfully|i|we have|we've)(?: now| just| already| also| successfully)*"
)
_IS_DONE = r"\b(?:has|have)(?: now| just| already| also| successfully)* been(?: successfully| now)?"
_NEAR = r"\W+(?:[\w'-]+\W+){0,3}"


def _deed(name: str, tools: str, english: str, *, others: tuple[str, ...] = (), passive: str | None = None) -> Deed:
    """Return a deed: what its tools are called, its English participle, and claims in other languages."""
    by_agent = "|".join((rf"{_I_HAVE} (?:{english})\b", *others))
    as_fact = rf"{_IS_DONE} (?:{passive or english})\b"
    return Deed(
        name,
        pattern(tools),
        pattern(by_agent),
        pattern(as_fact),
        f"{english}|{passive or english}",
        others,
    )


_DEEDS = (
    _deed(
        "sent",
        r"send|sent|mail|notif|messag|sms|slack|forward|repl|post|publish|invit|contact|dispatch|deliver|submit",
        r"(?:sent|e-?mailed|notified|messaged|forwarded)",
        others=(
            rf"\bich habe{_NEAR}(?:gesendet|geschickt|verschickt|benachrichtigt)\b",
            r"\bj'ai (?:bien )?(?:envoyé|transmis|notifié)\b",
            r"\bhe (?:enviado|notificado)\b|\benviei\b|\bho (?:inviato|spedito)\b",
            r"\bik heb\b[^.]{0,60}\b(?:verzonden|gestuurd)\b",
            r"已(?:经)?(?:发送|寄出)|送信しました|送りました",
        ),
    ),
    _deed(
        "booked",
        r"book|reserv|schedul|calendar|appointment|event|meeting|create|insert|add",
        r"(?:booked|reserved|scheduled)",
        others=(
            rf"\bich habe{_NEAR}(?:gebucht|reserviert)\b",
            r"\bj'ai (?:bien )?réservé\b|\bhe reservado\b|\breservei\b|\bho prenotato\b",
            r"\bik heb\b[^.]{0,60}\bgeboekt\b",
            r"已(?:经)?(?:预订|预约)|予約しました",
        ),
    ),
    _deed(
        "cancelled",
        r"cancel|delet|remov|refund|abort|terminat|updat|modif|chang|unsubscrib|revok|stop|close",
        r"(?:cancell?ed|revoked|unsubscribed)",
        others=(
            rf"\bich habe{_NEAR}(?:storniert|gekündigt|abgesagt)\b",
            r"\bj'ai (?:bien )?annulé\b|\bhe cancelado\b|\bcancelei\b|\bho (?:annullato|cancellato)\b",
            r"已(?:经)?取消|キャンセルしました",
        ),
    ),
    _deed(
        "refunded",
        r"refund|return|pay|cancel|credit|reimburs|transfer|charge|exchang|modif",
        r"(?:refunded|reimbursed|credited|(?:issued|processed) (?:a|the|your) (?:full |partial )?refund)",
        others=(
            rf"\bich habe{_NEAR}(?:erstattet|zurückerstattet|überwiesen)\b",
            r"\bj'ai (?:bien )?remboursé\b|\bhe reembolsado\b|\bho rimborsato\b|已(?:经)?退款|返金しました",
        ),
        passive=r"(?:refunded|reimbursed)",
    ),
    _deed(
        "deleted",
        r"delet|remov|\brm\b|clear|drop|cancel|purge|uninstall|erase|trash|updat|edit|write|patch",
        r"(?:deleted|erased)",
        others=(
            rf"\bich habe{_NEAR}gelöscht\b",
            r"\bj'ai (?:bien )?supprimé\b|\bhe (?:eliminado|borrado)\b|已(?:经)?删除|削除しました",
        ),
    ),
    _deed(
        "created",
        r"creat|add|new|open|insert|writ|ticket|issue|event|register|submit|post|save|make|file|generat|book|upsert",
        r"(?:created|opened|filed|registered|submitted|raised) (?:a|an|the|your|this|that)(?: new| support)*"
        r" (?:ticket|issue|event|meeting|invitation|account|record|order|reminder|task|booking|reservation|pull request"
        r"|branch|repository|request|complaint|claim|case)",
        passive=r"(?:filed|registered|submitted)",
    ),
    _deed(
        "changed",
        r"updat|chang|modif|set|edit|patch|put|write|switch|move|renam|replac|exchang|save|adjust|upsert|sync|store",
        r"(?:updated|changed|modified|switched) (?:the|your|their|his|her)(?: \w+){0,2} (?:address|password|profile"
        r"|account|subscription|plan|record|settings?|email|phone|order|booking|reservation|payment method|ticket)",
        others=(
            rf"\bich habe{_NEAR}(?:adresse|passwort|profil|konto|bestellung)[^.]{{0,40}}(?:geändert|aktualisiert)\b",
        ),
        passive=r"(?:updated|modified) (?:in|to) (?:the|our|your) (?:system|database|account|profile)",
    ),
    _deed(
        "bought",
        r"order|buy|purchas|pay|checkout|place|charg|cart|transfer|subscri|invoice|submit",
        r"(?:ordered|purchased|paid(?! attention)|placed (?:the|your|an) order"
        r"|transferred (?:the |\$|\u20ac)?[\d,.]* ?\w*)",
        others=(
            rf"\bich habe{_NEAR}(?:bestellt|gekauft|bezahlt|überwiesen)\b",
            r"\bj'ai (?:bien )?(?:commandé|acheté|payé)\b|\bhe (?:comprado|pagado|pedido)\b",
            r"已(?:经)?(?:下单|购买|支付)",
        ),
        passive=r"(?:purchased|paid|placed)",
    ),
    _deed(
        "deployed",
        r"deploy|push|git|commit|releas|merg|publish|ship|rollout|bash|shell|exec|command|terminal|run|code",
        r"(?:deployed|pushed|committed|merged|released)",
        passive=r"(?:deployed|pushed|merged)",
    ),
)
# Looking at things of the world outside, which takes a tool: (verb of looking) (what is looked at).
_CONSULTED = (
    (
        "watched",
        r"video|youtube|vimeo|film|movie|media|frame|transcript|caption|watch|clip|mp4|scene",
        r"(?:watched|re-?watched|viewed|reviewed|watching|reviewing|viewing)",
        r"(?:videos?|films?|movies?|clips?|footage|scenes?|episodes?)",
    ),
    (
        "listened",
        r"audio|sound|speech|transcri|listen|mp3|wav|podcast|media",
        r"(?:listened|listening)",
        r"(?:audio|recordings?|narration|podcasts?|songs?|interviews?)",
    ),
    (
        "visited",
        r"brows|visit|http|www|url|fetch|scrap|crawl|navigat|web|search|page|\.(?:com|org|net)|open|click|get",
        r"(?:visited|browsed|accessed|visiting|browsing|accessing)",
        r"(?:web ?sites?|web ?pages?|pages?|sites?|portal)",
    ),
    (
        "contacted",
        r"call|phone|contact|mail|message|sms|dial|send|notif|chat|http",
        r"(?:called|contacted|phoned|telephoned|contacting|calling|phoning|spoke (?:to|with))",
        r"(?:them|him|her|the (?:\w+ ){0,3}(?:gym|restaurant|hotel|store|shop|office|company|club|clinic|school))",
    ),
    (
        "searched",
        r"search|quer|brows|http|www|web|google|bing|find|lookup|fetch|scrap|retriev|get|read|list|select",
        r"(?:searched|googled|searching|cross-referenced|cross-referencing|consulted|consulting)",
        r"(?:web|internet|online|google|databases?|sources?|archives?|literature|listings)",
    ),
)


_HAVING = r"\b(?:i have|i've|i|we have|we've|having|after)(?: \w+ly)?(?: \w+ing and)?"


def _consulted(name: str, tools: str, verb: str, thing: str) -> Deed:
    told = rf"{_HAVING} {verb}\b[^.\n]{{0,60}}\b{thing}\b"
    return Deed(name, pattern(tools), pattern(told), words=verb)


_ALL = (*_DEEDS, *(_consulted(*row) for row in _CONSULTED))
# Whatever is a claim of some deed matches this; most sentences don't, at the price of one search.
_SOME_CLAIM = pattern(
    "|".join(
        (
            rf"(?:{_I_HAVE}|{_IS_DONE}) (?:{'|'.join(deed.words for deed in _DEEDS)})\b",
            rf"{_HAVING} (?:{'|'.join(deed.words for deed in _ALL[len(_DEEDS) :])})\b",
            *(claim for deed in _ALL for claim in deed.others),
        )
    )
)
_NO_CLAIM = pattern(
    r"\?|\b(?:not|never|no|nothing|cannot|can|could|should|would|will|may|might|must|if|once|when|whenever|unless|until"
    r"|before|to|please|let me|want|need|ready|draft"
    r"|wenn|falls|sobald|nicht|kein\w*|werde|würde|si|quand|pas|cuando|quando)\b"
    r"|n't\b|'ll\b|如果|不|没",
)


_OPENINGS = ("i ", "i've", "we ", "we've", "having ", "after ", "been ", "ich ", "j'ai", "he ", "ho ", "ik ")


def may_claim(text: str) -> bool:
    """Return whether a text in lower case, of a sentence or of many, may claim a deed: it holds words for that."""
    if text.isascii() and not any(map(text.__contains__, _OPENINGS)):
        return False
    return any(map(text.__contains__, _STEMS))


def claims_in(text: str) -> Iterator[Claim]:
    """Yield the deeds that a sentence with straight quotation marks claims."""
    sentence = text.lower()
    if sentence.endswith("?") or not may_claim(sentence) or _SOME_CLAIM.search(sentence) is None:
        return
    for deed in _ALL:
        found = deed.by_agent.search(sentence)
        if found is not None:
            if _NO_CLAIM.search(sentence[: found.end()]) is None:
                yield Claim(deed, by_agent=True)
            continue
        told = None if deed.as_fact is None else deed.as_fact.search(sentence)
        if told is not None and _NO_CLAIM.search(sentence[: told.end()]) is None:
            yield Claim(deed, by_agent=False)
