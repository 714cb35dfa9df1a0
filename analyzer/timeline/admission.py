"""Does this text own up that something failed, or that nothing was found? By its words, in many languages.

Lenient on purpose: who says that something did not work is believed, whatever it was.
"""

import re
from collections.abc import Iterable

from analyzer.pattern import pattern

__all__ = ["admits_failure", "admits_nothing"]

_MOST_TEXT = 3_000
"""Characters that are looked at, at either end of a text."""
# A boundary is looked for once, before all that begins with a word: most places of a text have none.
_FAILURE_WORDS = (
    r"fail|error|exception|unable|unavailab|unsuccessful|unfortunate|sorry|apolog|denied|refus|reject|forbidden",
    r"time[ds]?[ -]?out|timeout|trouble|problem|issue|unreachable|unauthori|invalid|missing|broken|crash|blocked",
    r"(?:could|can|did|does|was|were|is|are|do|has|have|had|would|will)(?:n't| not)\b|cannot\b|cant\b",
    r"not (?:able|found|possible|available|permitted|allowed|authori|exist)|no such|without success|gave up",
    r"(?:exceeded|manually|try again|rate.limit|nothing|none|neither|nobody)\b",
    r"fehl|leider|konnte|nicht|kein|ung[üu]ltig|abgelehnt|zeit[üu]berschreitung|entschuldig",
    r"erreur|[ée]chou|[ée]chec|impossible|malheureusement|d[ée]sol|introuvable",
    r"n'(?:a|ai|est|existe|y)\b|ne (?:peu|pu|fonctionn)",
    r"fall[óo]|fallid|imposible|lamentablemente|disculp|lo siento",
    r"no (?:se|pud|est[áa]|hay|exist|encontr|funcion)",
    r"falh|erro\b|imposs[íi]vel|infelizmente|desculp",
    r"n[ãa]o (?:foi|consegu|p[oôu]d|exist|h[áa]|est[áa]|encontr)",
    r"fallit|purtroppo|spiacent|non (?:[èe]|sono|riesc|posso|trov|esist|disponib)",
    r"ошибк|сбой|не удалось|не может|не могу|недоступ|к сожалению|извин|не найден|отказан",
    r"üzgün|maalesef|hata\b|başar.s.z|yetki|yok\b|değil|bulunama|edileme",
    r"niestety|błąd|błęd|nie (?:uda|mog|znal|ma|jest|można)",
    r"helaas|mislukt|niet\b|geen\b|fout\b|tyvärr|misslyck|inte\b",
    r"bohužel|chyb[ay]|nelze|не вдалося|помилк|на жаль|δυστυχώς|σφάλμα|δεν\b|không|lỗi|maaf|gagal|tidak",
    r"desværre|dessverre|mislyk|feilet|valitettavasti|epäonnistu|virhe|sajnos|sikertelen",
    r"din păcate|eșuat|eroare",
)
_FAILURE_ANYWHERE = (
    "দুঃখিত|ব্যর্থ",
    "失败|错误|无法|不能|抱歉|超时|未能|不可用|没有|不存在|找不到",
    "失敗|エラー|できません|できなかった|申し訳|見つかりません|ありません",
    "실패|오류|없습니다|없어|못했|죄송|불가능",
    "عذر|أعتذر|آسف|للأسف|خطأ|فشل|تعذر|لا يمكن|لا أملك|لا أستطيع|لم أ|لم ي|لم ت|ليس|غير|خطا|متأسف|متاسف|نمی",
    "क्षमा|माफ|नहीं|त्रुटि|असफल|विफल|ไม่|ขอโทษ|ขออภัย|ผิดพลาด|סליחה|מצטער|שגיאה|נכשל|לא ",
    # The status of an answer over HTTP, not a price.
    r"(?<![\d$€£.,-])(?:40[0-9]|410|422|429|50[0-4])(?![\d%€-]|[.,]\d)",
)
_NOTHING_WORDS = (
    r"(?:no|not|none|nothing|nobody|nowhere|neither|empty|zero|without|0)\b|no[nt]e?\b|unknown\b",
    r"kein|nichts|leer|ohne|aucun|rien|vide|sans|ning[uú]n|nada|nenhum|nessun|niente|vac[íi]o|vazi|vuot|sin|sem|senza",
    r"не|нет|ничего|пуст|никак",
    r"yok|boş|hiç|brak|nie|geen|leeg|niets|ingen|inga|tom\b|tidak|kosong|không|trống|žádn|κανέν|δεν",
    # Who is free or clear rests on finding nothing.
    r"free|clear|clean|frei|libre|livre|liber[oa]|свобод|wolne|vrij|ledig",
)
_NOTHING_ANYWHERE = (
    r"n't\b",
    "没|无|未|空|なし|ない|無|없|빈|नहीं|ไม่|אין|לא|لا |ليس|لم |بدون|ندار",
)


def _either(words: Iterable[str], anywhere: Iterable[str]) -> re.Pattern[str]:
    return pattern("|".join((rf"\b(?:{'|'.join(words)})", *anywhere)))


_ADMITS_FAILURE = _either(_FAILURE_WORDS, _FAILURE_ANYWHERE)
_ADMITS_NOTHING = _either((*_FAILURE_WORDS, *_NOTHING_WORDS), (*_FAILURE_ANYWHERE, *_NOTHING_ANYWHERE))


def admits_failure(text: str) -> bool:
    """Return whether a text says that something went wrong."""
    return _ADMITS_FAILURE.search(_plain(text)) is not None


def admits_nothing(text: str) -> bool:
    """Return whether a text says that something went wrong or that there is nothing of some kind."""
    return _ADMITS_NOTHING.search(_plain(text)) is not None


def _plain(text: str) -> str:
    ends = text if len(text) <= 2 * _MOST_TEXT else f"{text[:_MOST_TEXT]}\n{text[-_MOST_TEXT:]}"
    return ends.lower().replace("\u2019", "'")
