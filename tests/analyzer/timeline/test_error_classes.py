"""Errors of many languages, frameworks and providers, and the class each is of."""

import time

import pytest

from analyzer.timeline.error_classes import MOST_TEXT, ErrorClass, classify

KNOWN = {
    ErrorClass.TIMEOUT: (
        "upstream timeout for https://x.test/a (attempt 1)",
        "ReadTimeout: the request timed out",
        "fetch failed: ETIMEDOUT",
        "context deadline exceeded",
        "HTTP 504",
        "408 Request Timeout",
        "Command '['sleep', '9']' timed out after 5 seconds",
        "请求超时",
        "リクエストがタイムアウトしました",
        "Zeitüberschreitung der Anforderung",
        "délai d'attente dépassé",
        "превышено время ожидания",
    ),
    ErrorClass.RATE_LIMIT: (
        "429 Too Many Requests",
        "Error code: 429 - {'error': {'message': 'slow down'}}",
        "openai.RateLimitError: rate limit reached for requests",
        "ThrottlingException: Rate exceeded",
        "RESOURCE_EXHAUSTED: quota exceeded",
        "trop de requêtes",
        "请求过于频繁",
    ),
    ErrorClass.UNKNOWN_TOOL: (
        "Unknown tool: send_fax",
        "Error: send_fax is not a valid tool, try one of [a, b].",
        "Error: No such tool available: send_fax",
        "Tool send_fax not found in agent helper",
        "Error: Function send_fax not found.",
        "Function send_fax is not found in the tools_dict.",
        "Model tried to call unavailable tool 'send_fax'",
        "未知工具: send_fax",
    ),
    ErrorClass.ARGUMENTS: (
        "TypeError: f() missing 1 required positional argument: 'x'",
        "TypeError: f() got an unexpected keyword argument 'y'",
        "1 validation error for f\nx\n  Field required",
        "MCP error -32602: Input validation error",
        "'id' is a required property",
        "HTTP 422",
        "400 Bad Request",
        "ZodError: invalid_type",
        "ValueError: invalid literal for int() with base 10: 'seven'",
        "参数错误",
        "argument invalide",
    ),
    ErrorClass.PERMISSION: (
        "PermissionError: [Errno 13] Permission denied: '/srv'",
        "EACCES: permission denied, open '/srv'",
        "401 Unauthorized",
        "HTTP 403",
        "AuthenticationError: Incorrect API key provided",
        "AccessDeniedException: not authorized to perform",
        "The user rejected this call",
        "Zugriff verweigert",
        "没有权限访问该资源",
    ),
    ErrorClass.ENVIRONMENT: (
        "ModuleNotFoundError: No module named 'numpy'",
        "Error: Cannot find module 'left-pad'",
        "bash: jq: command not found",
        "'jq' is not recognized as an internal or external command",
        "FileNotFoundError: [Errno 2] No such file or directory: 'a.txt'",
        "ENOENT: no such file or directory, open 'a.txt'",
        "exit code 127",
        "OSError: [Errno 28] No space left on device",
        "Datei nicht gefunden",
    ),
    ErrorClass.SERVICE: (
        "ConnectionError: connection refused",
        "db connection refused",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "503 Service Unavailable",
        "openai.InternalServerError: Error code: 500",
        "getaddrinfo ENOTFOUND x.test",
        "overloaded_error: Overloaded",
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        "服务不可用",
    ),
    ErrorClass.NOT_FOUND: (
        "Error: order not found",
        "KeyError: 'price'",
        "HTTP 404",
        "NoSuchKey: The specified key",
        "User u1 does not exist",
        "could not find the customer",
        "заказ не найден",
        "注文が見つかりません",
    ),
}
UNCLEAR = (
    "exit code 3",
    "the table is taken",
    "TOOL_ERROR",
    "AssertionError",
    "non-pending order cannot be modified",
    "",
)


@pytest.mark.parametrize(
    ("error_class", "text"), [(kind, text) for kind, texts in KNOWN.items() for text in texts], ids=str
)
def test_an_error_is_of_its_class(error_class: ErrorClass, text: str) -> None:
    assert classify(text) is error_class


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_does_not_tell_is_of_no_class(text: str) -> None:
    assert classify(text) is None


def test_the_type_and_the_message_count_together() -> None:
    assert classify("KeyError", "'A-71'") is ErrorClass.NOT_FOUND
    assert classify("ToolError", None, "429 Too Many Requests") is ErrorClass.RATE_LIMIT


@pytest.mark.parametrize("text", ["Error: order 429 not found", "Error: item 503 does not exist", "no user 401 found"])
def test_a_number_alone_is_no_status(text: str) -> None:
    assert classify(text) is ErrorClass.NOT_FOUND


def test_both_ends_of_a_long_error_are_read() -> None:
    trace = "Traceback (most recent call last):\n" + '  File "a.py", line 1, in f\n' * 1000

    assert classify(trace + "TimeoutError: the read operation timed out") is ErrorClass.TIMEOUT
    assert classify("timed out\n" + trace) is ErrorClass.TIMEOUT
    assert classify("x" * MOST_TEXT + "timed out" + "x" * MOST_TEXT) is None


@pytest.mark.parametrize("piece", ["(", "tool ", "missing ", "no a ", "file ", "argument is ", "4", "error 4", "\n"])
def test_no_text_takes_long(piece: str) -> None:
    started = time.process_time()

    classify(piece * (1_000_000 // len(piece)))

    assert time.process_time() - started < 1
