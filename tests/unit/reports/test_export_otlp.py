"""Trials as OpenTelemetry spans; the messages are read by OpenTelemetry's own definition."""

from __future__ import annotations

import json
from collections.abc import Mapping

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.make import trial
from tidegate.model.event import End, Invocation, ToolCall, ToolResult
from tidegate.model.measurement import AgentInfo
from tidegate.model.trial import Trial
from tidegate.reports.export_otlp import ExportedTrial, traces

TRIAL = trial(
    agent_started_at=1000.0,
    duration_s=20.0,
    events=(
        ToolCall(id="1", tool="Bash", command="tool add x", at=1.0),
        ToolResult(id="1", status="error", exit_code=2, output="no", at=3.0),
        ToolCall(id="2", tool="Bash", command="tool list", input={"command": "tool list"}, at=10.0),
        ToolResult(id="2", status="ok", exit_code=0, at=12.0),
        End(end="completed", tokens_in=7, tokens_out=3),
    ),
    invocations=(
        Invocation(argv=("add", "x"), exit_code=2, status="error", started_at=1002.0, duration_s=0.5),
        Invocation(argv=("list",), exit_code=0, status="ok", started_at=1005.0, duration_s=0.25),
    ),
)
AGENT = AgentInfo(type="claude-code", model="claude-haiku-4-5", version="2.1.329")


def spans(trial: Trial) -> list[Span]:
    written = json.dumps(traces([ExportedTrial(trial, "pass", AGENT, "/opt/bin/tool")]))
    request = Parse(written, ExportTraceServiceRequest())
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def attributes(span: Span) -> Mapping[str, AnyValue]:
    return {attribute.key: attribute.value for attribute in span.attributes}


def test_the_agent_its_tools_and_the_targets_calls_are_a_tree() -> None:
    root, first, second, add, listed = spans(TRIAL)
    names = [span.name for span in (root, first, second, add, listed)]
    assert names == ["invoke_agent a", "execute_tool Bash", "execute_tool Bash", "tool", "tool"]
    assert root.parent_span_id == b""
    assert {first.parent_span_id, second.parent_span_id} == {root.span_id}
    assert add.parent_span_id == first.span_id
    assert listed.parent_span_id == root.span_id, "no tool call was open when it ran"
    assert len({span.span_id for span in (root, first, second, add, listed)}) == 5
    assert {span.trace_id for span in (first, second, add, listed)} == {root.trace_id}
    assert (root.start_time_unix_nano, root.end_time_unix_nano) == (1000 * 10**9, 1020 * 10**9)


def test_the_conventions_names_hold_what_was_recorded() -> None:
    root, first, _, add, _ = spans(TRIAL)
    told = attributes(root)
    assert told["gen_ai.request.model"].string_value == "claude-haiku-4-5"
    assert told["gen_ai.usage.input_tokens"].int_value == 7
    assert told["tidegate.outcome"].string_value == "pass"
    assert json.loads(attributes(first)["gen_ai.tool.call.arguments"].string_value) == {"command": "tool add x"}
    told = attributes(add)
    assert [value.string_value for value in told["process.command_args"].array_value.values] == ["tool", "add", "x"]
    assert told["process.exit.code"].int_value == 2


def test_what_failed_is_an_error_with_its_type() -> None:
    root, first, second, add, _ = spans(TRIAL)
    assert [span.status.code == Status.STATUS_CODE_ERROR for span in (root, first, second, add)] == [
        False,
        True,
        False,
        True,
    ]
    assert attributes(add)["error.type"].string_value == "error"
    stopped, *_ = spans(TRIAL.model_copy(update={"end": "timeout", "end_message": "after 300 s"}))
    assert (stopped.status.code, stopped.status.message) == (Status.STATUS_CODE_ERROR, "after 300 s")


def test_a_trial_whose_agent_was_never_started_has_no_spans() -> None:
    assert spans(Trial(spec=TRIAL.spec, not_measured="setup")) == []
