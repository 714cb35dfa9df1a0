"""Of which class is this error? Told by its status code, its exception's name and its words, in many languages.

The classes are asked in the order of `_SIGNS`, the one that says most first: a rate limit before a service's error, a
missing tool before a missing resource. Words are those of programming languages' standard libraries, HTTP, JSON-RPC,
shells, providers and agent frameworks. Texts are looked at by their ends, MOST_TEXT characters each, and no pattern can
run back over more than a bounded stretch. Errors that differ in ids and numbers alone are looked at once.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from analyzer.pattern import pattern

__all__ = ["MOST_TEXT", "ErrorClass", "classify"]

MOST_TEXT = 400


class ErrorClass(StrEnum):
    """What went wrong in a call."""

    RATE_LIMIT = "rate limit"
    UNKNOWN_TOOL = "unknown tool"
    PERMISSION = "permission"
    ARGUMENTS = "arguments"
    TIMEOUT = "time-out"
    ENVIRONMENT = "environment"
    SERVICE = "service"
    NOT_FOUND = "not found"


def classify(*texts: str | None) -> ErrorClass | None:
    """Return the class of an error by all that is said of it: its type, its message, the result; None when unclear."""
    text = "\n".join(_ends(text) for text in texts if text)
    return _class_of(_WORD.sub(_without_id, text.lower().replace(_APOSTROPHE, "'"))) if text else None


@lru_cache(maxsize=4096)
def _class_of(text: str) -> ErrorClass | None:
    code = _code(text)
    told = _CODES.get(code) if code is not None else None
    if told is not None:
        return told
    for error_class, sign in _SIGNS.items():
        if sign.search(text):
            return error_class
    return None if code is None else _VAGUE_CODES.get(code)


def _ends(text: str) -> str:
    half = MOST_TEXT // 2
    return text if len(text) <= MOST_TEXT else f"{text[:half]}\n{text[-half:]}"


_APOSTROPHE = "\u2019"
_WORD = pattern(r"[0-9a-z_]+")
_CODE_DIGITS = 3
_RPC_CODES = frozenset(("32600", "32601", "32602", "32603"))  # JSON-RPC 2.0, section 5.1


def _without_id(word: re.Match[str]) -> str:
    text = word[0]
    if text.isalpha() or text in _RPC_CODES or (text.isdecimal() and len(text) == _CODE_DIGITS):
        return text
    return "0" if any(letter.isdecimal() for letter in text) else text


# RFC 9110 §15, and 529 as providers use it for being overloaded.
_CODES: Mapping[int, ErrorClass] = {
    401: ErrorClass.PERMISSION,
    403: ErrorClass.PERMISSION,
    404: ErrorClass.NOT_FOUND,
    407: ErrorClass.PERMISSION,
    408: ErrorClass.TIMEOUT,
    410: ErrorClass.NOT_FOUND,
    429: ErrorClass.RATE_LIMIT,
    502: ErrorClass.SERVICE,
    503: ErrorClass.SERVICE,
    504: ErrorClass.TIMEOUT,
    529: ErrorClass.SERVICE,
}
# Codes under which services send all sorts of errors: the words count first.
_VAGUE_CODES: Mapping[int, ErrorClass] = {
    400: ErrorClass.ARGUMENTS,
    422: ErrorClass.ARGUMENTS,
    **dict.fromkeys(range(500, 600), ErrorClass.SERVICE),
}
_REASONS = (
    r"400[ :,-]{1,3}bad request|401[ :,-]{1,3}unauthori|403[ :,-]{1,3}forbidden|404[ :,-]{1,3}(?:page )?not found"
    r"|408[ :,-]{1,3}request time|410[ :,-]{1,3}gone|422[ :,-]{1,3}unprocess|429[ :,-]{1,3}too many"
    r"|500[ :,-]{1,3}(?:internal )?server|502[ :,-]{1,3}bad gate|503[ :,-]{1,3}service|504[ :,-]{1,3}gateway"
    r"|4[0-9]{2}[ :,-]{1,3}client error|5[0-9]{2}[ :,-]{1,3}server error"
)
_CODE = pattern(
    r"(?:http(?:/[0-9](?:\.[0-9])?)?|status(?:[ _]?code)?|\bcode|error)[\"'\]]?[ :=(\[\"']{0,4}([45][0-9]{2})\b"
    rf"|\b(?=({_REASONS}))|\A([45][0-9]{{2}})\b"
)


def _code(text: str) -> int | None:
    found = _CODE.search(text)
    return None if found is None else int(found[found.lastindex or 1][:_CODE_DIGITS])


def _any(*words: str) -> re.Pattern[str]:
    return pattern("|".join(words))


_NAME = r"[^\n]{0,80}?"
_SIGNS: Mapping[ErrorClass, re.Pattern[str]] = {
    ErrorClass.RATE_LIMIT: _any(
        r"too[ _-]?many[ _-]?(?:requests|calls)|rate[ _-]?limit(?:s|ed|ing)?(?!er)|throttl(?:ed|ing)",
        r"resource[ _-]?exhausted",
        r"quota[^\n]{0,30}exceed|exceed[^\n]{0,30}quota|insufficient[ _]quota",
        r"(?:requests|tokens) per (?:second|min|hour|day)",
        "请求过多|请求过于频繁|频率限制|限流|配额|レート制限|リクエストが多すぎ|요청이 너무 많|요청 한도",
        "zu viele anfragen|ratenbegrenzung|trop de requêtes|limite de (?:débit|requêtes)|quota dépassé",
        "demasiadas (?:solicitudes|peticiones)|límite de (?:velocidad|solicitudes|peticiones)",
        "muitas (?:solicitações|requisições)",
        "troppe richieste|слишком много запросов|превышен лимит",
    ),
    ErrorClass.UNKNOWN_TOOL: _any(
        r"(?:unknown|no such|unrecogni[sz]ed|non-?existent|unavailable|unregistered) (?:tool\b|function call)",
        r"\binvalid tool(?: name|:| ['\"`])|is not a valid tool|not a (?:known|registered) (?:tool|function)",
        r"no tool (?:named|called|with (?:the )?name)|(?:unknown|nosuch|unregistered)tool",
        rf"\btool\b{_NAME}(?:not (?:found|available|registered|recogni[sz]ed|defined)|do(?:es)?(?:n't| not) exist)",
        r"toolnotfound|\bfunction \S{1,80} (?:is )?not (?:found|registered)\b(?! in module)",
        r"\baction \S{1,80} don't exist",
        "未知工具|工具不存在|找不到工具|没有这个工具|不明なツール|ツールが見つかりません",
        "알 수 없는 도구|도구를 찾을 수 없",
        "unbekanntes (?:werkzeug|tool)|outil inconnu|herramienta desconocida|ferramenta desconhecida",
        "strumento sconosciuto",
        "неизвестный инструмент|инструмент не найден",
    ),
    ErrorClass.PERMISSION: _any(
        r"permission[ _-]?(?:denied|error)|permissiondenied|(?:access|authorization)[ _-]?(?:is |was )?denied",
        r"\be(?:acces|perm)\b",
        r"un-?authori[sz]ed|not authori[sz]ed|unauthenticated|forbidden|not (?:allowed|permitted) to",
        r"operation not permitted",
        r"auth(?:entication|ori[sz]ation)?[ _-]?(?:failed|failure|error|exception|(?:is )?required)",
        r"credentials? required",
        r"(?:invalid|incorrect|wrong|bad|missing|expired|no) (?:api[ _-]?key|access token|auth|credentials?|password)",
        r"invalid[ _-]token|api[ _-]?key (?:is |was )?(?:missing|invalid|expired|required|not (?:set|valid|provided))",
        r"(?:token|session|credentials?|certificate|key) (?:has |have |is |are )?(?:expired|been revoked)",
        r"log-?in required",
        r"not logged in|must (?:be logged in|log in|sign in|be authenticated|be an? admin)",
        r"requires? (?:authentication|approval)",
        r"insufficient[ _-](?:permission|privilege|scope|right|access)",
        r"(?:rejected|denied|declined|blocked) by (?:the )?(?:user|policy)",
        r"user (?:has )?(?:rejected|denied|declined|doesn't want)|haven't granted",
        r"(?:don't|do not|doesn't) have (?:permission|access)",
        "权限不足|没有权限|无权|未授权|拒绝访问|访问被拒绝|认证失败|身份验证失败|权限がありません|アクセスが拒否",
        "認証に失敗",
        "권한이 없|액세스가 거부|접근이 거부|인증에? ?실패|zugriff verweigert|keine berechtigung|nicht berechtigt",
        "accès refusé|permission refusée|non autorisé|acceso denegado|permiso denegado|no autorizado|sin permiso",
        "acesso negado|permissão negada|não autorizado|accesso negato|permesso negato|non autorizzato",
        "доступ запрещ[её]н|отказано в доступе|нет (?:прав|доступа)|не авторизован|ошибка аутентификации",
    ),
    ErrorClass.ARGUMENTS: _any(
        r"validation[ _]?(?:error|exception|failed)",
        r"invalid[ _-]?(?:tool )?(?:arguments?|args\b|param(?:eter|s\b)|inputs?\b|request|value)",
        r"(?:illegal|wrong|bad|incorrect|unexpected)[ _]?(?:keyword )?(?:argument|param(?:eter)?s?\b|option)",
        r"(?:unknown|unsupported|extra|invalid)[ _](?:keyword )?(?:argument|param(?:eter)?s?\b|option)",
        r"(?:argument|parameter|param|field|property|input|key)s? (?:\S{1,60} )?(?:is|are|was) (?:missing|required)",
        r"(?:argument|parameter|field|property|input|key)s? (?:\S{1,60} )?(?:is|are) (?:invalid|not (?:allowed|valid))",
        r"missing (?:[0-9]{1,3} )?(?:a |the |value for )?(?:required|mandatory|positional|arg|param|field|input)",
        r"required (?:property|field|parameter|argument|key|input)|field required|extra inputs are not",
        r"additional ?properties",
        r"is not of type",
        r"expected (?:type )?(?:a |an )?(?:string|integer|number|boolean|array|object|int|str|list|dict)\b",
        r"must be an? (?:valid|positive|non-|string|integer|number|boolean|list|array|object|date)",
        r"must be (?:one of|of type|between|greater|less|at )",
        r"should be (?:a|an) valid",
        r"invalid (?:literal|date|format|type|enum|choice|json|argument|url|uuid|email|id\b|range|syntax for)",
        r"-32602|unprocessable|bad[ _]?request|zoderror|argument(?:null|outofrange)?(?:exception|error)",
        r"schema ?(?:error|mismatch|violation)",
        r"(?:malformed|(?:could not|couldn't|cannot|failed to) parse) (?:the )?(?:tool )?(?:arg|input|json|param)",
        "参数(?:错误|无效|不正确|缺失)|无效(?:的)?参数|缺少(?:必需|必要|必填)?(?:的)?参数|引数が(?:不正|無効|足り)",
        "無効な引数|パラメータが(?:不正|無効)",
        "잘못된 (?:인수|인자|매개변수)|ungültige[rs]? (?:argument|parameter|eingabe|wert)",
        "fehlende[rs]? (?:argument|parameter)",
        "(?:argument|paramètre) (?:invalide|manquant)|(?:argumento|parámetro) (?:inválido|no válido|faltante)",
        "parâmetro (?:inválido|ausente)",
        "(?:argomento|parametro) non valido|неверн\\w{1,3} (?:аргумент|параметр)",
        "недопустим\\w{1,3} (?:аргумент|параметр)",
    ),
    ErrorClass.TIMEOUT: _any(
        r"tim(?:ed?|ing)[ _-]?out|esockettimedout|deadline[ _-]?exceeded|took too long|no response (?:within|after)",
        r"exceeded (?:the |its )?(?:max(?:imum)? )?(?:execution |run |wall[ -]?clock )?time",
        r"time limit (?:exceeded|reached)",
        "超时|タイムアウト|時間切れ|시간 ?초과|타임아웃|zeitüberschreitung|zeitlimit",
        "délai (?:d'attente )?(?:dépassé|expiré)",
        "tiempo de espera|tiempo agotado|tempo (?:limite|esgotado|scaduto)|тайм-?аут|превышено время|время ожидания",
    ),
    ErrorClass.ENVIRONMENT: _any(
        r"no module named|module[ _]?not[ _]?found|importerror|cannot (?:find module|import name)|classnotfound",
        r"noclassdeffound",
        r"command not found|not recognized as (?:an internal|the name)|executable (?:file )?not found",
        r"exec format error",
        r"no such file or directory|file[ _]?not[ _]?found|\benoent\b|\benotdir\b|\beisdir\b|is a directory",
        r"not a directory",
        r"\b(?:file|path|directory)\b(?: \S{1,200})? (?:does(?:n't| not) exist|(?:was |could )?not (?:be )?found)",
        r"cannot (?:open|find|read|access|stat) (?:the )?(?:file|path|directory|')|no space left|\benospc\b",
        r"disk (?:is )?full",
        r"out of memory|memoryerror|cannot allocate memory|oom[ _-]?killed|(?:is )?not installed|missing dependenc",
        r"environment variable \S{1,80} (?:is )?not set|exit (?:code|status) 12[67]\b|shared librar|dll load failed",
        r"unable to locate package",
        "文件不存在|找不到文件|没有那个文件或目录|找不到命令|未找到命令|ファイルが見つかりません",
        "そのようなファイルやディレクトリはありません",
        "파일을 찾을 수 없|datei (?:oder verzeichnis )?nicht gefunden|befehl nicht gefunden",
        "fichier (?:ou dossier )?(?:introuvable|inexistant)",
        "commande introuvable|no existe el (?:archivo|fichero)|archivo no encontrado|orden no encontrada",
        "arquivo não encontrado",
        "file non trovato|comando non trovato|файл не найден|команда не найдена|нет такого файла",
    ),
    ErrorClass.SERVICE: _any(
        r"internal[ _-]?server[ _-]?error|internalerror|bad gateway",
        r"service[ _-]?(?:is |was )?(?:temporarily |currently )?unavailable",
        r"(?:temporarily|currently) unavailable",
        r"connection[ _-]?(?:was )?(?:refused|reset|error|aborted|closed|failed|lost)",
        r"\be(?:connrefused|connreset|connaborted|notfound|pipe|hostunreach|ai_again)\b|getaddrinfo",
        r"name or service not known",
        r"name resolution|could not resolve host|network (?:is )?(?:unreachable|error|failure)|socket hang up",
        r"server (?:error|disconnected)",
        r"remote end closed|ssl ?error|certificate[ _]verify[ _]failed|overloaded|max retries exceeded|fetch failed",
        r"failed to fetch",
        r"api[ _]?(?:connection)?error|upstream (?:error|connect|request)|broken ?pipe|database is locked",
        r"backend (?:error|failure)|-32603",
        r"(?:(?:unable|failed) to|could not|cannot|can\'t|couldn\'t) (?:connect|reach)\b|unreachable",
        r"server is (?:down|not responding|busy)",
        "服务不可用|服务器错误|内部错误|连接被拒绝|连接失败|网络错误|サービスを利用できません|サーバーエラー",
        "接続に失敗|接続が拒否",
        "서버 오류|서비스를 사용할 수 없|연결에 실패|dienst nicht verfügbar|serverfehler",
        "verbindung (?:abgelehnt|fehlgeschlagen)",
        "service indisponible|erreur (?:interne )?du serveur|connexion refusée|servicio no disponible",
        "error (?:interno )?del servidor",
        "conexión rechazada|serviço indisponível|erro (?:interno )?do servidor|servizio non disponibile|ошибка сервера",
        "сервис недоступен",
    ),
    ErrorClass.NOT_FOUND: _any(
        r"not[ _-]?found|do(?:es)?(?:n't| not) exist|doesnotexist|no such|no longer exists|nosuchkey",
        r"(?:key|lookup)error",
        r"(?:can ?not|can't|could not|couldn't|unable to) (?:find|locate)",
        r"\bno \S{1,40}(?: \S{1,40}){0,2} (?:was |were )?found",
        r"(?:unknown|non-?existent) (?:id\b|user|customer|order|resource|record|item|entity|account|product|page)",
        "不存在|未找到|找不到|没有找到|見つかりません|存在しません|찾을 수 없|존재하지 않|nicht gefunden",
        "existiert nicht|introuvable",
        "n'existe pas|non trouvé|no (?:se )?(?:encontrad[oa]|encontró|existe)|não (?:foi )?(?:encontrad[oa]|existe)",
        "non (?:trovat[oa]|esiste)",
        "не (?:найден|существует|обнаружен)",
    ),
}
