//! A parser for every agent that speaks in lines: torn reads put together, JSON told from plain text, objects that are
//! printed over several lines gathered.

use serde_json::Value;

use crate::adapter::Parser;
use crate::{AgentEvent, Lines, Stream};

/// The longest object over several lines that is gathered, in bytes.
const LONGEST: usize = 4 << 20;

/// What the lines of one agent mean.
pub(crate) trait Grammar: Send {
    /// What its program printed as JSON: an object, or a string.
    fn value(&mut self, value: &Value, heard: &mut Vec<AgentEvent>);

    /// What stands on standard error as JSON. Other programs write there too.
    fn value_on_err(&mut self, value: &Value, heard: &mut Vec<AgentEvent>) {
        self.value(value, heard);
    }

    /// A line that is no JSON.
    fn plain(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>);

    /// Whether its program speaks on this stream; what comes on another is passed over.
    fn speaks_on(&self, _stream: Stream) -> bool {
        true
    }

    /// Nothing comes any more.
    fn end(&mut self, _heard: &mut Vec<AgentEvent>) {}
}

/// Bytes to lines to the grammar of an agent.
#[derive(Debug, Default)]
pub(crate) struct ByLine<G> {
    out: Side,
    err: Side,
    grammar: G,
}

/// One of the two streams.
#[derive(Debug, Default)]
struct Side {
    lines: Lines,
    /// An object whose end has not come yet.
    open: String,
}

impl<G: Grammar> ByLine<G> {
    fn side(&mut self, stream: Stream) -> &mut Side {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }

    fn line(&mut self, stream: Stream, line: String, heard: &mut Vec<AgentEvent>) {
        let Some(text) = self.side(stream).whole(line) else {
            return;
        };
        match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => values
                .iter()
                .for_each(|value| self.value(stream, value, heard)),
            Ok(value @ (Value::Object(_) | Value::String(_))) => self.value(stream, &value, heard),
            Ok(_) | Err(_) => self.plain(stream, &text, heard),
        }
    }

    fn value(&mut self, stream: Stream, value: &Value, heard: &mut Vec<AgentEvent>) {
        match stream {
            Stream::Out => self.grammar.value(value, heard),
            Stream::Err => self.grammar.value_on_err(value, heard),
        }
    }

    /// A torn object is no plain text.
    fn plain(&mut self, stream: Stream, text: &str, heard: &mut Vec<AgentEvent>) {
        let lines = text.lines().filter(|line| !line.starts_with("{\""));
        lines.for_each(|line| self.grammar.plain(stream, line, heard));
    }
}

impl Side {
    /// The text that this line completes. A bare bracket opens an object over several lines, one in the first column
    /// closes it.
    fn whole(&mut self, line: String) -> Option<String> {
        if self.open.is_empty() && !matches!(line.as_str(), "{" | "[") {
            return Some(line);
        }
        self.open.push_str(&line);
        let over = self.open.len() > LONGEST;
        if over || matches!(line.as_str(), "}" | "]") {
            return Some(std::mem::take(&mut self.open));
        }
        self.open.push('\n');
        None
    }
}

impl<G: Grammar> Parser for ByLine<G> {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Vec<AgentEvent> {
        let mut heard = Vec::new();
        if !self.grammar.speaks_on(stream) {
            return heard;
        }
        for line in self.side(stream).lines.take(bytes) {
            self.line(stream, line, &mut heard);
        }
        heard
    }

    fn finish(&mut self) -> Vec<AgentEvent> {
        let mut heard = Vec::new();
        for stream in [Stream::Out, Stream::Err] {
            if let Some(rest) = self.side(stream).lines.rest() {
                self.line(stream, rest, &mut heard);
            }
            let open = std::mem::take(&mut self.side(stream).open);
            self.plain(stream, &open, &mut heard);
        }
        self.grammar.end(&mut heard);
        heard
    }
}

/// The text at this place of an object.
pub(crate) fn text<'a>(object: &'a Value, place: &str) -> Option<&'a str> {
    object.pointer(place)?.as_str()
}

/// The number at this place of an object; 0 where there is none.
pub(crate) fn number(object: &Value, place: &str) -> u64 {
    object.pointer(place).and_then(Value::as_u64).unwrap_or(0)
}

/// The HTTP status at this place of an object.
pub(crate) fn status(object: &Value, place: &str) -> Option<u16> {
    let status = u16::try_from(number(object, place)).ok();
    status.filter(|status| *status != 0)
}

/// The array at this place of an object; empty where there is none.
pub(crate) fn list<'a>(object: &'a Value, place: &str) -> &'a [Value] {
    let found = object.pointer(place).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// A price in US dollars as millionths of one.
pub(crate) fn micros(dollars: f64) -> Option<u64> {
    let micros = (dollars * 1e6).round();
    // Decimal text is the one exact way from a float to an integer that needs no cast.
    format!("{micros:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Echo;

    impl Grammar for Echo {
        fn value(&mut self, value: &Value, heard: &mut Vec<AgentEvent>) {
            heard.push(AgentEvent::Text(value.to_string()));
        }

        fn plain(&mut self, _: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
            heard.push(AgentEvent::Session(line.to_owned()));
        }
    }

    fn all(bytes: &[u8]) -> Vec<AgentEvent> {
        let mut parser = ByLine::<Echo>::default();
        let mut heard = parser.take(Stream::Out, bytes);
        heard.extend(parser.finish());
        heard
    }

    fn object(text: &str) -> AgentEvent {
        AgentEvent::Text(text.into())
    }

    fn plain(text: &str) -> AgentEvent {
        AgentEvent::Session(text.into())
    }

    #[test]
    fn objects_are_read_on_one_line_over_several_and_in_an_array() {
        let heard = all(b"hi\r\n{\"a\":1}\n{\n  \"b\": {\n  }\n}\n[{\"c\":2},{\"d\":3}]\nbye");
        let expected = [
            plain("hi"),
            object("{\"a\":1}"),
            object("{\"b\":{}}"),
            object("{\"c\":2}"),
            object("{\"d\":3}"),
            plain("bye"),
        ];
        assert_eq!(heard, expected);
    }

    #[test]
    fn an_object_that_never_ends_is_plain_text() {
        assert_eq!(all(b"{\n  \"a\": 1,\n"), [plain("{"), plain("  \"a\": 1,")]);
        assert_eq!(all(b"{\n x\n}\n"), [plain("{"), plain(" x"), plain("}")]);
    }

    #[test]
    fn prices_become_millionths_without_rounding_down() {
        assert_eq!(micros(0.002_679_999_999_999_999_7), Some(2680));
        assert_eq!(micros(0.0), Some(0));
        assert_eq!(micros(-1.0), None);
        assert_eq!(micros(f64::NAN), None);
    }
}
