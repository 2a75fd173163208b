//! The text of a prompt with places for what is known only when it is told: `{name}` is filled in, `{{` and `}}` are
//! braces.
//!
//! Deliberately absent: conditions, loops and nesting. What is filled in is never looked at again.

use std::ops::Range;

use crate::config::closest;

/// A set of what can be filled in.
pub trait Named: Copy + PartialEq + 'static {
    /// All of it.
    const ALL: &'static [Self];

    /// What stands between the braces.
    fn name(self) -> &'static str;
}

/// What can be filled into the prompt of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// Who is told.
    Role,
    /// The mission's id.
    Mission,
    /// The mission's goal.
    Goal,
    /// What the plan says of the phase.
    Task,
    /// When the plan takes the phase for done.
    DoneWhen,
    /// The number of the phase.
    Phase,
    /// How many phases there are.
    Phases,
    /// The stage.
    Stage,
    /// The number of the visit.
    Visit,
    /// The number of the attempt.
    Attempt,
    /// What the host runs on the work.
    Checks,
    /// What was found, handed on and reported so far.
    Handoffs,
}

impl Named for Placeholder {
    const ALL: &'static [Self] = &[
        Self::Role,
        Self::Mission,
        Self::Goal,
        Self::Task,
        Self::DoneWhen,
        Self::Phase,
        Self::Phases,
        Self::Stage,
        Self::Visit,
        Self::Attempt,
        Self::Checks,
        Self::Handoffs,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Mission => "mission",
            Self::Goal => "goal",
            Self::Task => "task",
            Self::DoneWhen => "done_when",
            Self::Phase => "phase",
            Self::Phases => "phases",
            Self::Stage => "stage",
            Self::Visit => "visit",
            Self::Attempt => "attempt",
            Self::Checks => "checks",
            Self::Handoffs => "handoffs",
        }
    }
}

/// A text that is no template: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The place in the text, in bytes.
    pub span: Range<usize>,
    /// Why, and what to do.
    pub words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a, P> {
    Words(&'a str),
    Value(P),
}

/// A text whose placeholders are all known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template<'a, P>(Vec<Piece<'a, P>>);

impl<'a, P: Named> Template<'a, P> {
    /// Reads a text.
    ///
    /// # Errors
    /// The first brace that is neither doubled nor of a known placeholder, or a character that no agent can be told.
    pub fn parse(text: &'a str) -> Result<Self, Fault> {
        unprintable(text)?;
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(found) = tail(text, at).find(['{', '}']) {
            let brace = at + found;
            pieces.push(Piece::Words(text.get(at..brace).unwrap_or_default()));
            let (piece, length) = piece(tail(text, brace), brace)?;
            pieces.push(piece);
            at = brace + length;
        }
        pieces.push(Piece::Words(tail(text, at)));
        Ok(Self(pieces))
    }

    /// A text in which nothing is filled in.
    #[must_use]
    pub fn plain(text: &'a str) -> Self {
        Self(vec![Piece::Words(text)])
    }

    /// Whether it has a place for this.
    #[must_use]
    pub fn has(&self, placeholder: P) -> bool {
        self.0.contains(&Piece::Value(placeholder))
    }

    /// The text with every value in its place. A paragraph that comes out empty leaves no gap.
    pub fn fill(&self, value: impl Fn(P) -> String) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) if text.ends_with("\n\n") => {
                    text.push_str(words.trim_start_matches('\n'));
                }
                Piece::Words(words) => text.push_str(words),
                Piece::Value(placeholder) => text.push_str(&value(*placeholder)),
            }
        }
        text
    }
}

fn tail(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or_default()
}

/// A NUL ends a command line, and a terminal acts on the others.
fn unprintable(text: &str) -> Result<(), Fault> {
    let kept = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    let found = text.char_indices().find(|(_, c)| !kept(*c));
    found.map_or(Ok(()), |(at, c)| {
        Err(Fault {
            span: at..at + c.len_utf8(),
            words: format!("the control character U+{:04X}: remove it", u32::from(c)),
        })
    })
}

/// The piece that `rest` begins with, a brace at `at` of the whole, and its length.
fn piece<P: Named>(rest: &str, at: usize) -> Result<(Piece<'_, P>, usize), Fault> {
    for brace in ["{", "}"] {
        if rest
            .strip_prefix(brace)
            .is_some_and(|rest| rest.starts_with(brace))
        {
            let words = rest.get(..1).unwrap_or_default();
            return Ok((Piece::Words(words), 2));
        }
    }
    let name = rest.strip_prefix('{').and_then(|rest| {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
        let (name, _) = rest.split_once('}')?;
        (!name.is_empty() && name.chars().all(is_name)).then_some(name)
    });
    let Some(name) = name else {
        let brace = rest.get(..1).unwrap_or_default();
        return Err(Fault {
            span: at..at + 1,
            words: format!(
                "this `{brace}` is of no placeholder: write `{brace}{brace}` for a brace, or one of {}",
                known::<P>()
            ),
        });
    };
    let length = name.len() + 2;
    let placeholder = P::ALL.iter().find(|one| one.name() == name);
    placeholder
        .map(|one| (Piece::Value(*one), length))
        .ok_or_else(|| Fault {
            span: at..at + length,
            words: unknown::<P>(name),
        })
}

fn unknown<P: Named>(name: &str) -> String {
    let names = P::ALL.iter().map(|one| one.name());
    let near = closest(name, names)
        .map_or_else(String::new, |near| format!(" — did you mean `{{{near}}}`?"));
    format!(
        "unknown placeholder `{{{name}}}`{near} The known ones are {}; `{{{{` and `}}}}` are braces",
        known::<P>()
    )
}

fn known<P: Named>() -> String {
    let names = P::ALL.iter().map(|one| format!("{{{}}}", one.name()));
    names.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let template = Template::<Placeholder>::parse(text).unwrap();
        template.fill(|placeholder| {
            if placeholder == Placeholder::Checks {
                return String::new();
            }
            format!("<{{{}}}>", placeholder.name())
        })
    }

    #[test]
    fn a_text_is_filled_once_and_doubled_braces_are_braces() {
        for (text, wanted) in [
            ("", ""),
            ("as it is", "as it is"),
            ("{role}", "<{role}>"),
            ("a {phase} of {phases}.", "a <{phase}> of <{phases}>."),
            ("{done_when}{goal}", "<{done_when}><{goal}>"),
            ("{{role}}", "{role}"),
            ("{{{role}}}", "{<{role}>}"),
            ("{{ \"a\": {{}} }}", "{ \"a\": {} }"),
            ("a\n\n{checks}\n\nb", "a\n\nb"),
            ("a {checks} b\nc", "a  b\nc"),
            ("ä{role}ö", "ä<{role}>ö"),
        ] {
            assert_eq!(filled(text), wanted, "{text}");
        }
        for one in Placeholder::ALL {
            let text = format!("{{{}}}", one.name());
            let template = Template::<Placeholder>::parse(&text).unwrap();
            assert_eq!(template.fill(|it| it.name().into()), one.name());
            assert!(
                Placeholder::ALL
                    .iter()
                    .all(|it| template.has(*it) == (it == one))
            );
        }
        assert!(!Template::parse("{{role}}").unwrap().has(Placeholder::Role));
    }

    #[test]
    fn what_is_no_template_is_refused_in_its_place() {
        for (text, span, part) in [
            ("a {gaol}", 2..8, "did you mean `{goal}`?"),
            ("{Role}", 0..6, "did you mean `{role}`?"),
            ("{done-when}", 0..11, "did you mean `{done_when}`?"),
            (
                "{something_else}",
                0..16,
                "The known ones are {role} {mission} {goal} {task} {done_when} {phase} {phases} {stage} {visit} {attempt} {checks} {handoffs}",
            ),
            ("{ role }", 0..8, "unknown placeholder `{ role }`"),
            ("ä {}", 3..4, "write `{{` for a brace"),
            ("a {", 2..3, "write `{{` for a brace"),
            ("{role", 0..1, "write `{{` for a brace"),
            ("a } b", 2..3, "write `}}` for a brace"),
            ("{\"verdict\": 1}", 0..1, "write `{{` for a brace"),
            ("{{role}", 6..7, "write `}}` for a brace"),
            ("a\0b", 1..2, "U+0000"),
            ("\u{1b}[31m", 0..1, "U+001B"),
        ] {
            let fault = Template::<Placeholder>::parse(text).unwrap_err();
            assert_eq!(fault.span, span, "{text}");
            assert!(fault.words.contains(part), "{text}: {}", fault.words);
        }
    }
}
