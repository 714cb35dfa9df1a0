"""Does this text own up that something failed, or that nothing was found? By its words, in many languages.

Lenient on purpose: who says that something did not work is believed, whatever it was.
"""

from analyzer.pattern import pattern

__all__ = ["admits_failure", "admits_nothing"]

_MOST_TEXT = 3_000
"""Characters that are looked at, at either end of a text."""
_FAILURE = (
    r"\b(?:fail|error|exception|unable|unavailab|unsuccessful|unfortunate|sorry|apolog|denied|refus|reject|forbidden)",
    r"\b(?:time[ds]?[ -]?out|timeout|trouble|problem|issue|unreachable|unauthori|invalid|missing|broken|crash|blocked)",
    r"\b(?:could|can|did|does|was|were|is|are|do|has|have|had|would|will)(?:n't| not)\b|\bcannot\b|\bcant\b",
    r"\bnot (?:able|found|possible|available|permitted|allowed|authori|exist)|\bno such|\bwithout success|\bgave up",
    r"\b(?:exceeded|manually|try again|rate.limit|nothing|none|neither|nobody)\b",
    r"\b(?:fehl|leider|konnte|nicht|kein|ung[üu]ltig|abgelehnt|zeit[üu]berschreitung|entschuldig)",
    r"\b(?:erreur|[ée]chou|[ée]chec|impossible|malheureusement|d[ée]sol|introuvable)",
    r"\bn'(?:a|ai|est|existe|y)\b|\bne (?:peu|pu|fonctionn)",
    r"\b(?:fall[óo]|fallid|imposible|lamentablemente|disculp|lo siento)",
    r"\bno (?:se|pud|est[áa]|hay|exist|encontr|funcion)",
    r"\b(?:falh|erro\b|imposs[íi]vel|infelizmente|desculp)",
    r"\bn[ãa]o (?:foi|consegu|p[oôu]d|exist|h[áa]|est[áa]|encontr)",
    r"\b(?:fallit|purtroppo|spiacent)|\bnon (?:[èe]|sono|riesc|posso|trov|esist|disponib)",
    r"\b(?:ошибк|сбой|не удалось|не может|не могу|недоступ|к сожалению|извин|не найден|отказан)",
    "失败|错误|无法|不能|抱歉|超时|未能|不可用|没有|不存在|找不到",
    "失敗|エラー|できません|できなかった|申し訳|見つかりません|ありません",
    "실패|오류|없습니다|없어|못했|죄송|불가능",
    r"\b(?:üzgün|maalesef|hata\b|başar.s.z|yetki|yok\b|değil|bulunama|edileme)",
    r"\b(?:niestety|błąd|błęd|nie (?:uda|mog|znal|ma|jest|można))",
    r"\b(?:helaas|mislukt|niet\b|geen\b|fout\b|tyvärr|misslyck|inte\b)",
    r"\b(?:bohužel|chyb[ay]|nelze|не вдалося|помилк|на жаль|δυστυχώς|σφάλμα|δεν\b|không|lỗi|maaf|gagal|tidak)",
    r"\b(?:desværre|dessverre|mislyk|feilet|valitettavasti|epäonnistu|virhe|sajnos|sikertelen)",
    r"\b(?:din păcate|eșuat|eroare)|দুঃখিত|ব্যর্থ",
    "عذر|أعتذر|آسف|للأسف|خطأ|فشل|تعذر|لا يمكن|لا أملك|لا أستطيع|لم أ|لم ي|لم ت|ليس|غير|خطا|متأسف|متاسف|نمی",
    "क्षमा|माफ|नहीं|त्रुटि|असफल|विफल|ไม่|ขอโทษ|ขออภัย|ผิดพลาด|סליחה|מצטער|שגיאה|נכשל|לא ",
    # The status of an answer over HTTP, not a price.
    r"(?<![\d$€£.,-])(?:40[0-9]|410|422|429|50[0-4])(?![\d%€-]|[.,]\d)",
)
_NOTHING = (
    r"\b(?:no|not|none|nothing|nobody|nowhere|neither|empty|zero|without|0)\b|n't\b|\bno[nt]e?\b|\bunknown\b",
    r"\b(?:kein|nichts|leer|ohne|aucun|rien|vide|sans|ning[uú]n|nada|nenhum|nessun|niente|vac[íi]o|vazi|vuot|sin|sem|senza)",
    r"\b(?:не|нет|ничего|пуст|никак)",
    "没|无|未|空|なし|ない|無|없|빈|नहीं|ไม่|אין|לא|لا |ليس|لم |بدون|ندار",
    r"\b(?:yok|boş|hiç|brak|nie|geen|leeg|niets|ingen|inga|tom\b|tidak|kosong|không|trống|žádn|κανέν|δεν)",
    # Who is free or clear rests on finding nothing.
    r"\b(?:free|clear|clean|frei|libre|livre|liber[oa]|свобод|wolne|vrij|ledig)",
)
_ADMITS_FAILURE = pattern("|".join(_FAILURE))
_ADMITS_NOTHING = pattern("|".join((*_FAILURE, *_NOTHING)))


def admits_failure(text: str) -> bool:
    """Return whether a text says that something went wrong."""
    return _ADMITS_FAILURE.search(_plain(text)) is not None


def admits_nothing(text: str) -> bool:
    """Return whether a text says that something went wrong or that there is nothing of some kind."""
    return _ADMITS_NOTHING.search(_plain(text)) is not None


def _plain(text: str) -> str:
    ends = text if len(text) <= 2 * _MOST_TEXT else f"{text[:_MOST_TEXT]}\n{text[-_MOST_TEXT:]}"
    return ends.lower().replace("\u2019", "'")
