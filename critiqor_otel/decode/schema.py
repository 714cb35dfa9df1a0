"""OTLP's messages with nothing trusted yet: every text is bytes, every part that is read later is bytes.

On the wire a text, a message and bytes look the same, so these classes read the same requests as the official ones,
and are made from them: field numbers stand in opentelemetry-proto alone. Three things are won. A text that is no UTF-8
spoils itself only (the official classes refuse the whole request). A damaged span spoils itself only. And an attribute
that was seen before is known by its bytes, which halves the time.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

__all__ = [
    "ANY_VALUE",
    "ARRAY",
    "EVENT",
    "KEY_VALUE",
    "KEY_VALUE_LIST",
    "LINK",
    "LOGS",
    "LOG_RECORD",
    "RESOURCE",
    "RESOURCE_LOGS",
    "RESOURCE_SPANS",
    "SCOPE",
    "SCOPE_LOGS",
    "SCOPE_SPANS",
    "SPAN",
    "STATUS",
    "TRACES",
]

_FILES = (common_pb2, resource_pb2, trace_pb2, logs_pb2)
_FIELD = descriptor_pb2.FieldDescriptorProto
_TO_BYTES = frozenset((_FIELD.TYPE_STRING, _FIELD.TYPE_MESSAGE))
_OLD_SCOPE_SPANS = 1000  # instrumentation_library_spans, OTLP before 0.16; laid out like scope_spans
_PACKAGE = "opentelemetry.proto"


def _blind(message: descriptor_pb2.DescriptorProto) -> None:
    for field in message.field:
        if field.type in _TO_BYTES:
            field.type = _FIELD.TYPE_BYTES
            field.ClearField("type_name")
    for nested in message.nested_type:
        _blind(nested)


def _accept_old_scopes(message: descriptor_pb2.DescriptorProto) -> None:
    del message.reserved_range[:]
    message.field.add(
        name="old_scope_spans", number=_OLD_SCOPE_SPANS, label=_FIELD.LABEL_REPEATED, type=_FIELD.TYPE_BYTES
    )


def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for module in _FILES:
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            _blind(message)
            if message.name == "ResourceSpans":
                _accept_old_scopes(message)
        pool.Add(file)
    return pool


_POOL = _pool()


def _class(name: str) -> Any:  # the fields of a class made at run time are known to no type checker
    made: type[Message] = message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
    return made


TRACES = _class("trace.v1.TracesData")
"""An export request of traces; `TracesData` is laid out the same."""
RESOURCE_SPANS = _class("trace.v1.ResourceSpans")
SCOPE_SPANS = _class("trace.v1.ScopeSpans")
SPAN = _class("trace.v1.Span")
EVENT = _class("trace.v1.Span.Event")
LINK = _class("trace.v1.Span.Link")
STATUS = _class("trace.v1.Status")
LOGS = _class("logs.v1.LogsData")
"""An export request of logs."""
RESOURCE_LOGS = _class("logs.v1.ResourceLogs")
SCOPE_LOGS = _class("logs.v1.ScopeLogs")
LOG_RECORD = _class("logs.v1.LogRecord")
RESOURCE = _class("resource.v1.Resource")
SCOPE = _class("common.v1.InstrumentationScope")
KEY_VALUE = _class("common.v1.KeyValue")
ANY_VALUE = _class("common.v1.AnyValue")
ARRAY = _class("common.v1.ArrayValue")
KEY_VALUE_LIST = _class("common.v1.KeyValueList")
