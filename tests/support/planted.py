"""Runs of an agent in which one step is known to be the one by which the run was lost.

Each run is written as an instrumented agent would leave it: model answers that ask for tools, calls, outputs, words.
The planted step is followed by what a real agent would do then. Before, between and after lie honest work, errors that
are recovered from, and things that look bad and are not (a slow call, a long output, a lookup that finds nothing and is
made again in other words). The writer knows nothing of detectors: it says what happens, not what is to be found.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from analyzer.session.model import Event, Session

__all__ = ["KINDS", "Planted", "plant", "unharmed"]

_SECOND = 1_000_000_000
_START = 1_750_000_000 * _SECOND
_CITIES = ("Lyon", "Porto", "Gdansk", "Graz", "Turku", "Bergen", "Utrecht", "Malmo")
_PEOPLE = ("Ines Alvarado", "Tomasz Krol", "Mira Hoxha", "Jonas Weber", "Aiko Tanabe", "Sofia Lindqvist")
_GOODS = ("desk lamp", "rain jacket", "steel kettle", "trail shoes", "bookcase", "camping stove")


class Planted(NamedTuple):
    """A run, and the step by which it was lost."""

    session: Session
    step: int


class _Writer:
    """Writes the events of one run, step by step; a step is one answer of the model and what it asked for."""

    def __init__(self, rng: random.Random, agent: str, task: str) -> None:
        self.rng = rng
        self.agent = agent
        self.step = 0
        self.planted = -1
        self._events: list[Event] = []
        self._now = _START + rng.randrange(10**6) * _SECOND
        self._calls = 0
        self.order = f"ORD-{rng.randrange(10_000, 99_999)}"
        self.invoice = f"INV-{rng.randrange(1000, 9999)}"
        self.euros = rng.randrange(50, 900)
        task = f"{task} It is about order {self.order} and invoice {self.invoice} over {self.euros} euros."
        self._put("state_transition", "agent_start", payload={"agent": agent, "input": task})

    def plant(self) -> None:
        """The next step is the one."""
        self.planted = self.step + 1

    def act(self, tool: str, args: Any, result: Any = None, **more: Any) -> None:
        """Let the model ask for a call, make it, and take its result; `error` in `more` makes it fail."""
        said, seconds = more.pop("say", None), more.pop("seconds", self.rng.uniform(0.2, 1.5))
        self._calls += 1
        call_id = f"call_{self._calls}"
        request = {"id": call_id, "name": tool, "arguments": args}
        self._answer({"text": said, "tool_requests": [request]})
        self._put("tool_call", "tool_call", tool, call_id, payload={"input": args, "agent": self.agent})
        self._now += int(seconds * _SECOND)
        error = more.pop("error", None)
        payload = {} if result is None and error is not None else {"result": result}
        status = "ok" if error is None else "error"
        self._put("tool_output", "tool_result", tool, call_id, status=status, error=error, payload={**payload, **more})

    def say(self, text: str, finish: str | None = None) -> None:
        """Let the model say something."""
        self._answer({"text": text}, finish)

    def other(self, event: str, event_type: str, **payload: Any) -> None:
        """Write an event of another kind as a step of its own."""
        self.step += 1
        self._put(event, event_type, payload={"agent": self.agent, **payload})

    def note(self, event: str, event_type: str, **payload: Any) -> None:
        """Write an event that belongs to the step before."""
        self._put(event, event_type, payload={"agent": self.agent, **payload})

    def offer(self, *tools: dict[str, Any]) -> None:
        """Let the model know of tools."""
        self._put("state_transition", "before_provider_request", payload={"agent": self.agent, "tools": list(tools)})

    def end(self, answer: str | None, error: str | None = None) -> None:
        """End the run with an answer, or with the error that ended it."""
        if answer is not None:
            self.say(answer)
        status = "ok" if error is None else "error"
        self._put(
            "state_transition",
            "agent_end",
            status=status,
            error=error,
            payload={"agent": self.agent, **({} if answer is None else {"output": answer})},
        )

    def done(self, run_id: str) -> Planted:
        """Return the run."""
        return Planted(Session(run_id=run_id, events=tuple(self._events)), self.planted)

    def _answer(self, message: dict[str, Any], finish: str | None = None) -> None:
        self.step += 1
        self._now += int(self.rng.uniform(0.5, 3) * _SECOND)
        told = {key: value for key, value in message.items() if value}
        usage = {"input_tokens": self.rng.randrange(400, 1200), "output_tokens": self.rng.randrange(20, 90)}
        reason = finish or ("tool_calls" if "tool_requests" in told else "stop")
        payload = {"agent": self.agent, "messages": [{"role": "assistant", **told}], "usage": usage}
        self._put("token_usage", "after_provider_response", payload={**payload, "finish_reasons": [reason]})

    def _put(
        self, event: str, event_type: str, tool: str | None = None, call_id: str | None = None, **more: Any
    ) -> None:
        self._now += _SECOND // 100
        payload = {"step": self.step, **more.pop("payload", {})}
        self._events.append(
            Event(
                event_id=f"e{len(self._events)}",
                event=event,
                event_type=event_type,
                time_ns=self._now,
                tool_name=tool,
                tool_call_id=call_id,
                payload=payload,
                **more,
            )
        )


# --- what happens in any run ---------------------------------------------------------------------------------------


def _look_up_customer(w: _Writer) -> None:
    name = w.rng.choice(_PEOPLE)
    number = f"C-{w.rng.randrange(1000, 9999)}"
    w.act("find_customer", {"name": name}, {"customer_id": number, "name": name, "city": w.rng.choice(_CITIES)})
    w.act("get_customer", {"customer_id": number}, {"customer_id": number, "level": w.rng.choice(("silver", "gold"))})


def _look_up_goods(w: _Writer) -> None:
    thing = w.rng.choice(_GOODS)
    price = w.rng.randrange(2000, 9000) / 100
    w.act(
        "search_catalog",
        {"query": thing},
        [{"sku": f"SKU{w.rng.randrange(10**5, 10**6)}", "name": thing, "price": price}],
    )


def _read_pages(w: _Writer) -> None:
    for page in range(1, w.rng.randrange(3, 5)):
        rows = [f"row {w.rng.randrange(10**6)}" for _ in range(3)]
        w.act("list_orders", {"page": page}, {"page": page, "rows": rows, "more": page < 3})


def _wait_for_job(w: _Writer) -> None:
    job = f"job-{w.rng.randrange(1000, 9999)}"
    w.act("start_export", {"table": "orders"}, {"job": job})
    for share in (20, 60, 100):
        w.act("job_state", {"job": job}, {"job": job, "percent": share, "state": "done" if share == 100 else "running"})


def _slow_but_fine(w: _Writer) -> None:
    w.act(
        "fetch_report",
        {"quarter": w.rng.choice(("Q1", "Q2"))},
        {"revenue": w.rng.randrange(10**5, 10**6)},
        seconds=19.0,
    )


def _long_but_fine(w: _Writer) -> None:
    w.act(
        "read_manual",
        {"chapter": w.rng.randrange(1, 9)},
        "Handle with care. " * 60 + f"See section {w.rng.randrange(99)}.",
    )


def _timeout_then_fine(w: _Writer) -> None:
    city = w.rng.choice(_CITIES)
    w.act("get_weather", {"city": city}, error="TimeoutError: no answer after 10 s")
    w.act("get_weather", {"city": city}, {"city": city, "celsius": w.rng.randrange(-5, 35)})


def _wrong_then_right(w: _Writer) -> None:
    number = w.rng.randrange(100, 999)
    w.act("read_file", {"path": f"notes/{number}.md"}, error=f"FileNotFoundError: notes/{number}.md")
    w.act("list_files", {"folder": "notes"}, [f"{number}.txt", "index.txt"])
    w.act("read_file", {"path": f"notes/{number}.txt"}, f"Meeting {number}: ship the new labels.")


def _empty_then_found(w: _Writer) -> None:
    thing = w.rng.choice(_GOODS)
    w.act("search_docs", {"query": f"{thing} warranty terms"}, [])
    w.act("search_docs", {"query": thing}, [f"{thing}: two years of warranty, form W{w.rng.randrange(10, 99)}"])


_HONEST: tuple[Callable[[_Writer], None], ...] = (_look_up_customer, _look_up_goods, _read_pages, _wait_for_job)
_HERRINGS: tuple[Callable[[_Writer], None], ...] = (_slow_but_fine, _long_but_fine, _empty_then_found)
_RECOVERED: tuple[Callable[[_Writer], None], ...] = (_timeout_then_fine, _wrong_then_right)


def _noise(w: _Writer, least: int = 1, most: int = 3) -> None:
    """Write some of what happens in any run."""
    for _ in range(w.rng.randrange(least, most + 1)):
        kind = w.rng.choices((_HONEST, _HERRINGS, _RECOVERED), weights=(5, 2, 2))[0]
        w.rng.choice(kind)(w)


# --- the twenty ways to lose a run -----------------------------------------------------------------------------------


def _refused_argument(w: _Writer) -> None:
    order = w.order
    w.act("get_order", {"order_id": order}, {"order_id": order, "status": "delivered", "items": ["A17", "B22"]})
    w.plant()
    w.act(
        "exchange_items",
        {"order_id": order, "items": ["A17", "B22"], "new_items": ["A18"]},
        error="Error: the number of new items must match",
    )
    _noise(w, 0, 2)
    w.end("I looked into your order and everything is prepared for you.")


def _no_such_tool(w: _Writer) -> None:
    w.offer(
        {"name": "find_customer"},
        {"name": "get_customer"},
        {"name": "search_catalog"},
        {"name": "list_orders"},
        {"name": "start_export"},
        {"name": "job_state"},
        {"name": "fetch_report"},
        {"name": "read_manual"},
        {"name": "get_weather"},
        {"name": "read_file"},
        {"name": "list_files"},
        {"name": "search_docs"},
    )
    _noise(w)
    w.plant()
    w.act("issue_voucher", {"customer": w.rng.choice(_PEOPLE), "euros": 25}, error="Unknown tool: issue_voucher")
    _noise(w, 0, 2)
    w.end("All steps are finished.")


def _missing_module(w: _Writer) -> None:
    w.plant()
    code = "import geopandas as gpd\nframe = gpd.read_file('regions.gpkg')\nprint(frame.area.sum())\n"
    w.act("run_python", {"code": code}, error="ModuleNotFoundError: No module named 'geopandas'")
    w.act(
        "run_python",
        {"code": "import geopandas\nprint(geopandas.__version__)\n\n"},
        error="ModuleNotFoundError: No module named 'geopandas'",
    )
    w.end(None, error="the agent gave up: the analysis could not be made")


def _permission(w: _Writer) -> None:
    w.plant()
    path = f"/srv/payroll/{w.rng.randrange(2020, 2026)}.csv"
    w.act("read_table", {"path": path}, error=f"PermissionError: [Errno 13] Permission denied: '{path}'")
    _noise(w, 0, 2)
    w.end("The summary of the payroll is ready.")


def _timed_out(w: _Writer) -> None:
    host = f"db{w.rng.randrange(1, 9)}.internal"
    w.plant()
    for _ in range(w.rng.randrange(2, 4)):
        w.act(
            "query_database",
            {"host": host, "sql": "select count(*) from invoices"},
            seconds=30.0,
            error="TimeoutError: the server did not answer within 30 seconds",
        )
    w.end(None, error="gave up waiting for the database")


def _rate_limit(w: _Writer) -> None:
    w.plant()
    for number in range(w.rng.randrange(4, 7)):
        w.act(
            "geocode",
            {"address": f"{number + 1} Mill Lane"},
            seconds=0.1,
            error="HTTP 429 Too Many Requests: rate limit exceeded, retry after 60 s",
        )
    w.end("Here are the coordinates as far as I know them.")


def _made_up_path(w: _Writer) -> None:
    name = f"forecast_{w.rng.randrange(2030, 2060)}_{w.rng.randrange(100, 999)}.csv"
    w.plant()
    w.say(f"The numbers we need are in the file {name}, I will read it next.")
    _noise(w, 0, 1)
    for folder in ("data", "archive")[: w.rng.randrange(1, 3)]:
        w.act("load_table", {"path": f"{folder}/{name}"}, error=f"FileNotFoundError: {folder}/{name}")
    w.end("The forecast looks stable for the coming years.")


def _changed_too_early(w: _Writer) -> None:
    order = w.order
    w.act("get_order", {"order_id": order}, {"order_id": order, "status": "pending", "city": w.rng.choice(_CITIES)})
    w.plant()
    w.act(
        "modify_order_items",
        {"order_id": order, "remove": ["A17"]},
        {"order_id": order, "status": "locked after change"},
    )
    _noise(w, 0, 2)
    w.act(
        "modify_order_address",
        {"order_id": order, "city": w.rng.choice(_CITIES)},
        error="Error: a locked order cannot be modified",
    )
    w.end("The address of your order is changed as you wished.")


def _loop(w: _Writer) -> None:
    query = f"invoice {w.rng.randrange(1000, 9999)}"
    w.plant()
    for _ in range(w.rng.randrange(4, 8)):
        w.act("search_mail", {"query": query}, {"messages": []})
    _noise(w, 0, 1)
    w.end("I could not find out more.")


def _to_and_fro(w: _Writer) -> None:
    left, right = (f"https://intranet.example/{w.rng.randrange(100, 999)}" for _ in range(2))
    w.plant()
    for _ in range(w.rng.randrange(3, 5)):
        w.act("open_page", {"url": left}, f"See also {right}")
        w.act("open_page", {"url": right}, f"Moved to {left}")
    w.end("The pages refer to each other.")


def _paid_twice(w: _Writer) -> None:
    invoice, euros = w.invoice, w.euros
    w.act(
        "send_payment", {"invoice": invoice, "euros": euros}, {"receipt": f"R{w.rng.randrange(10**6)}", "state": "paid"}
    )
    _noise(w, 0, 2)
    w.plant()
    w.act(
        "send_payment", {"invoice": invoice, "euros": euros}, {"receipt": f"R{w.rng.randrange(10**6)}", "state": "paid"}
    )
    w.end(f"Invoice {invoice} is paid.")


def _claimed(w: _Writer) -> None:
    name = w.rng.choice(_PEOPLE)
    w.act("get_address", {"name": name}, {"name": name, "email": f"{name.split()[0].lower()}@example.org"})
    _noise(w, 0, 2)
    w.plant()
    w.end(f"I have sent the email to {name} with the new delivery date.")


def _misread(w: _Writer) -> None:
    order = w.order
    w.act("get_order", {"order_id": order}, {"order_id": order, "status": "processed", "items": ["K3"]})
    w.plant()
    w.say(f"Order {order} has been delivered, so its items can be exchanged.")
    _noise(w, 0, 1)
    w.act(
        "exchange_delivered_items",
        {"order_id": order, "items": ["K3"]},
        error="Error: non-delivered order cannot be exchanged",
    )
    w.end("The exchange is under way.")


def _invented(w: _Writer) -> None:
    w.act("download_prices", {"year": 2023}, error="HTTP 404: no such file")
    w.plant()
    code = (
        "# The download failed, so let's use simulated sample data instead\n"
        "prices = [101.5, 99.2, 103.8, 104.1]\nmean = sum(prices) / len(prices)\nprint(mean)\n"
    )
    w.act(
        "run_python", {"code": code}, "102.15\n", say="I will work with simulated sample data in place of the prices."
    )
    _noise(w, 0, 1)
    w.end("The mean price of 2023 was 102.15.")


def _cut_off(w: _Writer) -> None:
    w.plant()
    w.say("Here is the full list of regulations that apply: 1. The first regulation says that every", finish="length")
    w.end(None, error="the answer was incomplete")


def _schema(w: _Writer) -> None:
    w.offer(
        {
            "name": "book_room",
            "parameters": {
                "type": "object",
                "required": ["room", "guests"],
                "properties": {"room": {"type": "string"}, "guests": {"type": "integer"}},
            },
        }
    )
    _noise(w)
    w.plant()
    w.act(
        "book_room",
        {"room": f"R{w.rng.randrange(10, 99)}", "guests": "four"},
        error="ValidationError: guests: value is not a valid integer",
    )
    _noise(w, 0, 1)
    w.end("Your room is reserved.")


def _memory_lost(w: _Writer) -> None:
    w.plant()
    w.other(
        "memory_event",
        "memory_search",
        operation="search",
        query="delivery wishes",
        status="recall_failed",
        action="recall_failed",
        outcome="miss",
    )
    _noise(w, 0, 2)
    w.end("I delivered to the standard address.")


def _flooded(w: _Writer) -> None:
    w.plant()
    w.act("dump_logs", {"service": "checkout"}, " ".join(f"line{w.rng.randrange(10**6)}" for _ in range(3000)))
    w.note("context_event", "context", saturation=97)
    w.note("context_event", "compaction", action="compaction", saturation=98)
    _noise(w, 0, 1)
    w.end("The service looks fine.")


def _skill_ignored(w: _Writer) -> None:
    w.plant()
    w.other("skill_event", "skill_load", skill="refund-policy", invoked=False, status="mismatch")
    _noise(w, 0, 2)
    w.end("I handled the refund in a general way.")


def _service_down(w: _Writer) -> None:
    w.plant()
    w.act("create_ticket", {"title": f"Leak in {w.rng.choice(_CITIES)}"}, error="HTTP 503 Service Unavailable")
    _noise(w, 0, 2)
    w.end("Your ticket is created.")


KINDS: Mapping[str, Callable[[_Writer], None]] = {
    "refused_argument": _refused_argument,
    "no_such_tool": _no_such_tool,
    "missing_module": _missing_module,
    "permission_refused": _permission,
    "timed_out": _timed_out,
    "rate_limit": _rate_limit,
    "made_up_path": _made_up_path,
    "changed_too_early": _changed_too_early,
    "loop": _loop,
    "to_and_fro": _to_and_fro,
    "paid_twice": _paid_twice,
    "claimed": _claimed,
    "misread": _misread,
    "invented": _invented,
    "cut_off": _cut_off,
    "schema": _schema,
    "memory_lost": _memory_lost,
    "flooded": _flooded,
    "skill_ignored": _skill_ignored,
    "service_down": _service_down,
}
"""The ways to lose a run, by name."""


def plant(kind: str, number: int) -> Planted:
    """Return the run of a kind and a number; equal ones are equal."""
    writer = _writer(kind, number)
    _noise(writer, 1, 3)
    KINDS[kind](writer)
    return writer.done(f"{kind}_{number}")


def unharmed(number: int) -> Session:
    """Return a run in which nothing was lost: the same work, errors and herrings, and an answer."""
    writer = _writer("unharmed", number)
    _noise(writer, 3, 6)
    writer.end("That is what there was to do.")
    return writer.done(f"unharmed_{number}").session


def _writer(kind: str, number: int) -> _Writer:
    rng = random.Random(f"{kind} {number}")
    return _Writer(rng, rng.choice(("support_agent", "analyst", "helper")), f"Please look after task {number}.")
