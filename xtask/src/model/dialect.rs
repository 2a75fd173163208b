//! The languages in which agents speak to a model: what was asked, and how an answer is put.

mod chat;
mod generate;
mod messages;
mod responses;

use std::fmt;

use serde_json::{Value, json};

use super::scene::{Reply, Stop};

/// One language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Messages of Anthropic.
    Messages,
    /// Responses of `OpenAI`.
    Responses,
    /// Chat completions, spoken by many.
    Chat,
    /// `generateContent` of Gemini.
    Generate,
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    name: Option<&'static str>,
    data: String,
}

/// Before and after the place where an answer breaks off.
pub(super) type Parts = (Vec<Event>, Vec<Event>);

/// A reply as it is told to one call.
#[derive(Debug)]
pub(super) struct Told {
    call: u32,
    model: String,
    text: String,
    /// The tool and its arguments.
    tool: Option<(String, Value)>,
    stop: Stop,
}

impl Told {
    pub(super) fn new(reply: &Reply, tools: &[(String, Value)], call: u32, model: String) -> Self {
        let tool = reply
            .command
            .as_deref()
            .map(|command| shell(tools, command));
        Self {
            call,
            model,
            text: reply.text.clone(),
            tool: tool.flatten(),
            stop: reply.stop,
        }
    }

    fn id(&self, kind: &str) -> String {
        format!("{kind}_fake{:04}", self.call)
    }

    /// The word of one dialect for why it stopped.
    fn why(&self, [done, tool, refusal, length]: [&'static str; 4]) -> &'static str {
        match self.stop {
            Stop::Done if self.tool.is_some() => tool,
            Stop::Done => done,
            Stop::Refusal => refusal,
            Stop::Length => length,
        }
    }
}

/// The call of the agent's shell tool, whatever it is called.
fn shell(tools: &[(String, Value)], command: &str) -> Option<(String, Value)> {
    let described = || json!({"command": command, "description": "run a command"});
    tools.iter().find_map(|(name, schema)| {
        let arguments = match name.as_str() {
            "exec_command" => json!({"cmd": command}),
            "shell_command" => json!({"command": command}),
            "shell" => json!({"command": ["bash", "-lc", command]}),
            "run_shell_command" if schema.pointer("/properties/is_background").is_some() => {
                json!({"command": command, "description": "run a command", "is_background": false})
            }
            "Bash" | "bash" | "run_shell_command" => described(),
            _ => return None,
        };
        Some((name.clone(), arguments))
    })
}

impl Event {
    fn plain(data: &Value) -> Self {
        Self {
            name: None,
            data: data.to_string(),
        }
    }

    fn named(name: &'static str, data: &Value) -> Self {
        Self {
            name: Some(name),
            data: data.to_string(),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name {
            writeln!(f, "event: {name}")?;
        }
        write!(f, "data: {}\n\n", self.data)
    }
}

impl Dialect {
    /// The one that is spoken at this path.
    pub(super) fn of(path: &str) -> Option<Self> {
        let places = [
            ("/messages", Self::Messages),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            ("enerateContent", Self::Generate),
        ];
        let found = places.into_iter().find(|(place, _)| path.contains(place));
        found.map(|(_, dialect)| dialect)
    }

    /// The names of the tools that it offers, with their schemas.
    pub(super) fn tools(self, body: &Value) -> Vec<(String, Value)> {
        match self {
            Self::Messages => named(items(body, "/tools"), "/name", "/input_schema"),
            Self::Responses => named(items(body, "/tools"), "/name", "/parameters"),
            Self::Chat => named(
                items(body, "/tools"),
                "/function/name",
                "/function/parameters",
            ),
            Self::Generate => {
                let lists = items(body, "/tools");
                let declared = lists.flat_map(|list| items(list, "/functionDeclarations"));
                named(declared, "/name", "/parametersJsonSchema")
            }
        }
    }

    /// How many tools ran since the last prompt.
    pub(super) fn results(self, body: &Value) -> usize {
        match self {
            Self::Messages => messages::results(body),
            Self::Responses => responses::results(body),
            Self::Chat => chat::results(body),
            Self::Generate => generate::results(body),
        }
    }

    /// Whether the answer is to come in pieces.
    pub(super) fn streams(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Generate => path.contains("streamGenerateContent"),
            Self::Messages | Self::Responses | Self::Chat => {
                body.pointer("/stream") == Some(&Value::Bool(true))
            }
        }
    }

    /// The model that is asked.
    pub(super) fn model(self, path: &str, body: &Value) -> String {
        let in_path = || path.rsplit('/').next()?.split(':').next();
        let named = match self {
            Self::Generate => in_path(),
            Self::Messages | Self::Responses | Self::Chat => {
                body.pointer("/model").and_then(Value::as_str)
            }
        };
        named.unwrap_or("fake-model").to_owned()
    }

    /// What is said to a side call: a title, or to Gemini which model and who speaks next.
    pub(super) fn side_text(self) -> &'static str {
        match self {
            Self::Generate => {
                r#"{"reasoning":"simple","model_choice":"flash","complexity_reasoning":"simple","complexity_score":10,"next_speaker":"user"}"#
            }
            Self::Messages | Self::Responses | Self::Chat => r#"{"title":"A title"}"#,
        }
    }

    /// An answer in pieces: those before the place where one breaks off, and the rest.
    pub(super) fn stream(self, told: &Told) -> Parts {
        match self {
            Self::Messages => messages::stream(told),
            Self::Responses => responses::stream(told),
            Self::Chat => chat::stream(told),
            Self::Generate => generate::stream(told),
        }
    }

    /// The event that tells of an error in the middle of an answer.
    pub(super) fn broken(self) -> Event {
        match self {
            Self::Messages => messages::broken(),
            Self::Responses => responses::broken(),
            Self::Chat => chat::broken(),
            Self::Generate => generate::broken(),
        }
    }

    /// An answer in one piece.
    pub(super) fn whole(self, told: &Told) -> Value {
        match self {
            Self::Messages => messages::whole(told),
            Self::Responses => responses::whole(told),
            Self::Chat => chat::whole(told),
            Self::Generate => generate::whole(told),
        }
    }
}

/// The entries of the list at `place`.
fn items<'a>(value: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> {
    value
        .pointer(place)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// The text at `place`.
fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value
        .pointer(place)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn named<'a>(
    tools: impl Iterator<Item = &'a Value>,
    name: &str,
    schema: &str,
) -> Vec<(String, Value)> {
    let each = tools.map(|tool| {
        (
            text(tool, name).to_owned(),
            tool.pointer(schema).cloned().unwrap_or_default(),
        )
    });
    each.filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: Option<&str>, tool: &str) -> Told {
        let reply = Reply {
            text: "Hm.".into(),
            command: command.map(str::to_owned),
            stop: Stop::Done,
        };
        Told::new(&reply, &[(tool.to_owned(), json!({}))], 3, "m".into())
    }

    const ALL: [(Dialect, &str, &str); 4] = [
        (Dialect::Messages, "/v1/messages", "Bash"),
        (Dialect::Responses, "/v1/responses", "exec_command"),
        (Dialect::Chat, "/v1/chat/completions", "bash"),
        (
            Dialect::Generate,
            "/v1beta/models/m:streamGenerateContent",
            "run_shell_command",
        ),
    ];

    #[test]
    fn each_is_told_by_its_path_and_calls_the_shell_by_its_name() {
        for (dialect, path, tool) in ALL {
            assert_eq!(Dialect::of(path), Some(dialect));
            let (begun, rest) = dialect.stream(&told(Some("true"), tool));
            let shown = |events: &[Event]| events.iter().map(Event::to_string).collect::<String>();
            assert!(shown(&begun).contains("Hm."), "{dialect:?}");
            assert!(shown(&rest).contains(tool), "{dialect:?}");
            assert!(
                dialect
                    .whole(&told(Some("true"), tool))
                    .to_string()
                    .contains(tool)
            );
            assert!(!shown(&dialect.stream(&told(None, tool)).1).contains(tool));
        }
        assert_eq!(Dialect::of("/v1/telemetry"), None);
    }

    #[test]
    fn tools_and_their_results_are_counted_from_the_last_prompt() {
        let messages = json!({"tools": [{"name": "Bash", "input_schema": {}}], "messages": [
            {"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "tool_result"}]},
            {"role": "user", "content": [{"type": "text", "text": "b"}]}, {"role": "user", "content": [{"type": "tool_result"}]}]});
        let responses = json!({"tools": [{"type": "function", "name": "shell"}, {"type": "web_search"}], "input": [
            {"type": "function_call_output"}, {"type": "message", "role": "user"}, {"type": "function_call_output"}]});
        let chat = json!({"tools": [{"function": {"name": "bash"}}], "messages": [
            {"role": "tool"}, {"role": "user", "content": "b"}, {"role": "assistant"}, {"role": "tool"}]});
        let generate = json!({"tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}], "contents": [
            {"role": "user", "parts": [{"functionResponse": {}}]}, {"role": "user", "parts": [{"text": "b"}]},
            {"role": "model", "parts": []}, {"role": "user", "parts": [{"functionResponse": {}}]}]});
        for ((dialect, ..), body) in ALL.into_iter().zip([messages, responses, chat, generate]) {
            assert_eq!(dialect.tools(&body).len(), 1, "{dialect:?}");
            assert_eq!(dialect.results(&body), 1, "{dialect:?}");
        }
    }
}
