//! The lines that Claude Code prints, as far as programs that took them over print them too: JSON objects of the types
//! `assistant`, `user` and `result`, each naming its session.
//!
//! Deliberately absent: what an error means, which every program says in its own way.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::by_line::{list, number, text};
use crate::{AgentEvent, Terminal, Tokens, ToolEnd};

/// What is remembered from line to line.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What the messages before the newest one used.
    before: Tokens,
    /// The newest message and what it used so far.
    newest: (String, Tokens),
    /// Calls that were not allowed.
    denied: BTreeSet<String>,
}

impl Seen {
    /// What the model wrote, and the calls that it made.
    pub(crate) fn assistant(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let own = text(line, "/parent_tool_use_id").is_none();
        for part in list(line, "/message/content") {
            match text(part, "/type") {
                Some("tool_use") => open(part, heard),
                // What a subagent says is said to the agent.
                Some("text") if own => say(part, heard),
                Some(_) | None => {}
            }
        }
        say(line, heard);
        heard.extend(self.used(line));
    }

    /// What was used so far. A message is announced in parts, each with the same figures.
    fn used(&mut self, line: &Value) -> Option<AgentEvent> {
        let usage = line.pointer("/message/usage")?;
        let id = text(line, "/message/id")?;
        if self.newest.0 != id {
            self.before = self.before.plus(self.newest.1);
            id.clone_into(&mut self.newest.0);
        }
        self.newest.1 = tokens(usage);
        Some(AgentEvent::Used(self.before.plus(self.newest.1)))
    }

    /// The calls whose results a line of the type `user` holds.
    pub(crate) fn results(&self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let ids = list(line, "/message/content")
            .iter()
            .filter_map(|part| text(part, "/tool_use_id"))
            .filter(|id| !self.denied.contains(*id));
        heard.extend(ids.map(|id| AgentEvent::ToolClosed(id.to_owned(), ToolEnd::Ran)));
    }

    /// A call that was not allowed, told once.
    pub(crate) fn deny(&mut self, denial: &Value) -> Option<AgentEvent> {
        let id = text(denial, "/tool_use_id").or_else(|| text(denial, "/tool_name"))?;
        let new = self.denied.insert(id.to_owned());
        new.then(|| AgentEvent::ToolClosed(id.to_owned(), ToolEnd::Denied))
    }

    /// What the last line says was denied and used in the whole run.
    pub(crate) fn totals(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        for denial in list(line, "/permission_denials") {
            heard.extend(self.deny(denial));
        }
        let usage = line.pointer("/usage").map(tokens);
        heard.extend(usage.map(AgentEvent::Used));
    }
}

/// Whether the last line is one of a failure; its `subtype` may say `success` all the same.
pub(crate) fn failed(line: &Value) -> bool {
    line.pointer("/is_error") == Some(&Value::Bool(true))
        || text(line, "/subtype").is_some_and(|subtype| subtype.starts_with("error"))
}

/// A successful last line. An answer by a schema is the final message, whatever was said beside it.
pub(crate) fn success(line: &Value, heard: &mut Vec<AgentEvent>) {
    let structured = line.pointer("/structured_output").map(Value::to_string);
    let said = structured.or_else(|| text(line, "/result").map(str::to_owned));
    heard.extend(said.map(AgentEvent::Text));
    heard.push(AgentEvent::Ended(Terminal::Success));
}

/// The session that every line names, and the model that the first one does.
pub(crate) fn names(line: &Value, heard: &mut Vec<AgentEvent>) {
    let session = text(line, "/session_id").map(str::to_owned);
    heard.extend(session.map(AgentEvent::Session));
    if text(line, "/subtype") == Some("init") {
        let model = text(line, "/model").map(str::to_owned);
        heard.extend(model.map(AgentEvent::Model));
    }
}

fn open(part: &Value, heard: &mut Vec<AgentEvent>) {
    let name = text(part, "/name").unwrap_or_default();
    let id = text(part, "/id").unwrap_or(name);
    heard.push(AgentEvent::ToolOpened(id.to_owned()));
    if matches!(name, "AskUserQuestion" | "ask_user_question") {
        let question = text(part, "/input/question")
            .or_else(|| text(part, "/input/questions/0/question"))
            .unwrap_or("it asked something");
        heard.push(AgentEvent::Asks(question.to_owned()));
    }
}

fn say(part: &Value, heard: &mut Vec<AgentEvent>) {
    heard.extend(text(part, "/text").map(|text| AgentEvent::Text(text.to_owned())));
}

/// What was used. Where a total is given and is input and output alone, what came from a cache is among the input.
fn tokens(usage: &Value) -> Tokens {
    let output = number(usage, "/output_tokens");
    let cached = number(usage, "/cache_read_input_tokens");
    let mut input = number(usage, "/input_tokens");
    if number(usage, "/total_tokens") == input.saturating_add(output) {
        input = input.saturating_sub(cached);
    }
    Tokens {
        input: input.saturating_add(number(usage, "/cache_creation_input_tokens")),
        output,
        cached,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_came_from_a_cache_is_counted_once() {
        let apart = json!({"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 300, "output_tokens": 2});
        let within = json!({"input_tokens": 310, "cache_read_input_tokens": 300, "output_tokens": 2, "total_tokens": 312});
        let used = |input| Tokens {
            input,
            output: 2,
            cached: 300,
        };
        assert_eq!(tokens(&apart), used(15));
        assert_eq!(tokens(&within), used(10));
    }
}
