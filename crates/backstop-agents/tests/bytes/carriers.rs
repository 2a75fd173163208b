//! Lines in which the programs of agents pass on what a model wrote or a tool printed.

use serde_json::{Value, json};

/// Lines that say nothing of how a run ends.
pub(crate) fn carriers(agent: &str, words: &str) -> Vec<Value> {
    match agent {
        "claude" | "qwen" => claude_like(words),
        "codex" => codex(words),
        "copilot" => copilot(words),
        "gemini" => gemini(words),
        "opencode" => opencode(words),
        "scripted" => vec![
            json!({"text": words}),
            json!({"session": words}),
            json!({"tool_opened": words}),
        ],
        _ => Vec::new(),
    }
}

/// Lines that give the answer of a model as the end of a success.
pub(crate) fn answers(agent: &str, words: &str) -> Vec<Value> {
    match agent {
        "claude" | "qwen" => vec![
            json!({"type": "result", "subtype": "success", "is_error": false, "result": words}),
            json!([
                {"type": "assistant", "message": {"content": [{"type": "text", "text": words}]}},
                {"type": "result", "subtype": "success", "is_error": false, "result": words},
            ]),
        ],
        "gemini" => vec![json!({"session_id": "s", "response": words, "stats": {}})],
        _ => Vec::new(),
    }
}

fn claude_like(words: &str) -> Vec<Value> {
    let assistant = |part| json!({"type": "assistant", "message": {"id": "m", "content": [part]}});
    let user = |content| {
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": true});
        json!({"type": "user", "message": {"role": "user", "content": [result]}, "tool_use_result": words})
    };
    vec![
        assistant(json!({"type": "text", "text": words})),
        assistant(json!({"type": "thinking", "thinking": words})),
        assistant(
            json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": words}}),
        ),
        user(json!(words)),
        user(json!([{"type": "text", "text": words}])),
        json!({"type": "user", "message": {"role": "user", "content": words}}),
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": words}}}),
    ]
}

fn codex(words: &str) -> Vec<Value> {
    let item = |item: Value| json!({"type": "item.completed", "item": item});
    let command = json!({"id": "i", "type": "command_execution", "command": words, "aggregated_output": words, "exit_code": 1, "status": "failed"});
    vec![
        item(json!({"id": "i", "type": "agent_message", "text": words})),
        item(json!({"id": "i", "type": "reasoning", "text": words})),
        json!({"type": "item.started", "item": command}),
        json!({"type": "item.updated", "item": command}),
        item(command),
        item(
            json!({"id": "i", "type": "mcp_tool_call", "arguments": {"a": words}, "result": {"content": [{"type": "text", "text": words}]}, "error": {"message": words}}),
        ),
        item(json!({"id": "i", "type": "web_search", "query": words})),
        item(
            json!({"id": "i", "type": "todo_list", "items": [{"text": words, "completed": false}]}),
        ),
    ]
}

fn copilot(words: &str) -> Vec<Value> {
    let of = |kind: &str, data: Value| json!({"type": kind, "data": data});
    vec![
        of(
            "assistant.message",
            json!({"content": words, "toolRequests": []}),
        ),
        of("assistant.message_delta", json!({"deltaContent": words})),
        of("assistant.reasoning", json!({"content": words})),
        of(
            "assistant.tool_call_delta",
            json!({"toolCallId": "t", "inputDelta": words}),
        ),
        of(
            "tool.execution_start",
            json!({"toolCallId": "t", "toolName": "bash", "arguments": {"command": words}}),
        ),
        of(
            "tool.execution_partial_result",
            json!({"toolCallId": "t", "partialOutput": words}),
        ),
        of(
            "tool.execution_complete",
            json!({"toolCallId": "t", "success": false, "result": {"content": words}, "error": {"message": words, "code": "failure"}}),
        ),
    ]
}

fn gemini(words: &str) -> Vec<Value> {
    vec![
        json!({"type": "message", "role": "assistant", "content": words, "delta": true}),
        json!({"type": "message", "role": "user", "content": words}),
        json!({"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t", "parameters": {"command": words}}),
        json!({"type": "tool_result", "tool_id": "t", "status": "success", "output": words}),
        json!({"type": "tool_result", "tool_id": "t", "status": "error", "output": words, "error": {"type": "execution_error", "message": words}}),
    ]
}

fn opencode(words: &str) -> Vec<Value> {
    let of = |kind: &str, part: Value| json!({"type": kind, "sessionID": "s", "part": part});
    let state = json!({"status": "completed", "input": {"command": words}, "output": words, "title": words});
    vec![
        of("text", json!({"type": "text", "text": words})),
        of("reasoning", json!({"type": "reasoning", "text": words})),
        of(
            "tool_use",
            json!({"type": "tool", "callID": "t", "tool": "bash", "state": state}),
        ),
        of(
            "tool_use",
            json!({"type": "tool", "callID": "t", "tool": "bash", "state": {"status": "error", "error": words}}),
        ),
    ]
}
