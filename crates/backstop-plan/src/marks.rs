//! Where in a text the phases and keys of a JSON value are, and which keys an object names twice.
//!
//! Deliberately not a JSON parser: it walks text that `serde_json` has accepted, and decides nothing about it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::iter::Peekable;
use core::str::CharIndices;

use backstop_vocab::Phase;

use crate::key::Key;

/// A place in a text; both count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The start of the line that has `before` lines before it.
    pub(crate) fn line_after(before: usize) -> Self {
        let line = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
        Self { line, column: 1 }
    }

    /// The place after `c` was passed.
    pub(crate) const fn past(self, c: char) -> Self {
        let Self { line, column } = self;
        match c {
            '\n' => Self {
                line: line.saturating_add(1),
                column: 1,
            },
            _ => Self {
                line,
                column: column.saturating_add(1),
            },
        }
    }
}

/// A place in a plan: the plan, a key of it, a phase, or a key of a phase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) phase: Option<Phase>,
    pub(crate) key: Option<String>,
}

impl Place {
    pub(crate) const ROOT: Self = Self {
        phase: None,
        key: None,
    };

    pub(crate) const fn phase(phase: Phase) -> Self {
        Self {
            phase: Some(phase),
            key: None,
        }
    }

    pub(crate) fn of(phase: Option<Phase>, key: Key) -> Self {
        Self::key(phase, key.name())
    }

    pub(crate) fn key(phase: Option<Phase>, key: &str) -> Self {
        let key = Some(key.to_string());
        Self { phase, key }
    }
}

/// The places of a text. Empty for a value that came without a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    found: BTreeMap<Place, Position>,
    duplicates: Vec<(Place, Position)>,
}

impl Marks {
    /// Walks `text`, which is well-formed JSON that starts at `start`.
    pub(crate) fn walk(text: &str, start: Position) -> Self {
        let mut walk = Walk {
            text,
            chars: text.char_indices().peekable(),
            at: start,
            open: Vec::new(),
            marks: Self::default(),
        };
        while walk.token().is_some() {}
        walk.marks
    }

    /// Where `place` is; for a key that is missing, where its object is.
    pub(crate) fn near(&self, place: &Place) -> Option<Position> {
        let object = place.phase.map_or(Place::ROOT, Place::phase);
        let at = self.found.get(place).or_else(|| self.found.get(&object));
        at.copied()
    }

    /// Each key that its object has named before.
    pub(crate) fn duplicates(&self) -> &[(Place, Position)] {
        &self.duplicates
    }
}

/// An object or array that is not closed yet.
enum Open {
    Object {
        seen: BTreeSet<String>,
        key: Option<String>,
    },
    Array {
        at: Phase,
    },
}

struct Walk<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    at: Position,
    open: Vec<Open>,
    marks: Marks,
}

impl Walk<'_> {
    fn pass(&mut self) -> Option<char> {
        let (_, c) = self.chars.next()?;
        self.at = self.at.past(c);
        Some(c)
    }

    /// Takes one token; none at the end of the text.
    fn token(&mut self) -> Option<()> {
        let (_, c) = self.chars.peek().copied()?;
        match c {
            ' ' | '\t' | '\r' | '\n' | ':' => self.pass().map(drop),
            ',' => self.next_item(),
            '}' | ']' => self.close(),
            '{' => self.enter(Open::Object {
                seen: BTreeSet::new(),
                key: None,
            }),
            '[' => self.enter(Open::Array { at: Phase::FIRST }),
            '"' => self.string(),
            _ => self.scalar(),
        }
    }

    fn next_item(&mut self) -> Option<()> {
        self.pass()?;
        match self.open.last_mut()? {
            Open::Object { seen: _, key } => *key = None,
            Open::Array { at } => *at = at.next(),
        }
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        self.open.pop();
        self.pass().map(drop)
    }

    fn enter(&mut self, open: Open) -> Option<()> {
        self.value(self.at);
        self.open.push(open);
        self.pass().map(drop)
    }

    fn scalar(&mut self) -> Option<()> {
        self.value(self.at);
        let ends = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | ',' | '}' | ']');
        while self.chars.peek().is_some_and(|(_, c)| !ends(*c)) {
            self.pass()?;
        }
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        let at = self.at;
        let from = self.chars.peek()?.0;
        self.pass()?;
        loop {
            match self.pass()? {
                '\\' => self.pass().map(drop)?,
                '"' => break,
                _ => {}
            }
        }
        let to = self.chars.peek().map_or(self.text.len(), |(to, _)| *to);
        match self.open.last() {
            Some(Open::Object { seen: _, key: None }) => self.key(self.text.get(from..to)?, at),
            _ => self.value(at),
        }
        Some(())
    }

    /// `quoted` as the text has it: `"t\u0061sk"` is the key `task`.
    fn key(&mut self, quoted: &str, at: Position) {
        let name: String = serde_json::from_str(quoted).unwrap_or_default();
        let place = Place::key(self.in_phase(), &name);
        let of_phase = self.open.len() == 3 && place.phase.is_some();
        let looked_up = self.open.len() == 1 || of_phase;
        if let Some(Open::Object { seen, key }) = self.open.last_mut() {
            *key = Some(name.clone());
            if !seen.insert(name) {
                self.marks.duplicates.push((place.clone(), at));
            }
        }
        if looked_up {
            self.mark(place, at);
        }
    }

    fn value(&mut self, at: Position) {
        match self.open.len() {
            0 => self.mark(Place::ROOT, at),
            2 => {
                if let Some(phase) = self.in_phase() {
                    self.mark(Place::phase(phase), at);
                }
            }
            _ => {}
        }
    }

    /// The last of several counts, as it does for `serde_json`.
    fn mark(&mut self, place: Place, at: Position) {
        self.marks.found.insert(place, at);
    }

    /// The phase that the walk is in, at whatever depth.
    fn in_phase(&self) -> Option<Phase> {
        match self.open.as_slice() {
            [Open::Object { seen: _, key }, Open::Array { at }, ..] => {
                (key.as_deref() == Some(Key::Phases.name())).then_some(*at)
            }
            _ => None,
        }
    }
}
