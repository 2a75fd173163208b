//! The checks: every reason why a draft is no plan, all of them at once. How a text is read is not decided here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use backstop_vocab::{Phase, PhaseKind, Text, is_blank};
use serde_json::{Map, Value};

use crate::draft::{Checks, Draft};
use crate::key::{KEYS, Key, Level, Need};
use crate::marks::{Marks, Place};
use crate::near::nearest;
use crate::plan::{MOST_TEXT, PhaseSpec, PhaseText};
use crate::refusal::{Code, Refusal, Refusals, shown};

/// The most phases of a plan.
pub const MOST_PHASES: usize = 4;

/// What is no task, when it is all there is; without the marks around it.
const PLACEHOLDERS: [&str; 15] = [
    "",
    "tbd",
    "todo",
    "to do",
    "to be done",
    "to be decided",
    "to be defined",
    "to be determined",
    "fixme",
    "xxx",
    "n/a",
    "placeholder",
    "task",
    "your task here",
    "insert task here",
];

/// The phases of `draft`, or everything that is wrong with it.
pub(crate) fn judge(draft: &Draft) -> Result<Vec<PhaseSpec>, Refusals> {
    let Draft {
        value,
        marks,
        checks,
    } = draft;
    let mut judge = Judge {
        marks,
        checks: *checks,
        found: Vec::new(),
    };
    judge.duplicate_keys();
    let phases = judge.plan(value);
    match Refusals::of(judge.found) {
        Some(refusals) => Err(refusals),
        None => Ok(phases),
    }
}

/// The numbers of phases, from the first.
pub(crate) fn numbers() -> impl Iterator<Item = Phase> {
    core::iter::successors(Some(Phase::FIRST), |number| Some(number.next()))
}

struct Judge<'a> {
    marks: &'a Marks,
    checks: Checks,
    found: Vec<Refusal>,
}

type Object = Map<String, Value>;

/// The values of a phase's keys, unchecked.
#[derive(Default)]
struct Raw<'a> {
    kind: Option<&'a Value>,
    task: Option<&'a Value>,
    done_when: Option<&'a Value>,
    done_when_check: Option<&'a Value>,
    allow_empty: Option<&'a Value>,
}

impl Judge<'_> {
    fn refuse(&mut self, code: Code, place: Place, message: impl Into<String>) {
        let at = self.marks.near(&place);
        self.found
            .push(Refusal::new(code, place, at, message.into()));
    }

    fn duplicate_keys(&mut self) {
        for (place, at) in self.marks.duplicates() {
            let name = shown(place.key.as_deref().unwrap_or_default());
            let message = format!("`{name}` is named twice in one object: keep one of them");
            let refusal = Refusal::new(Code::DuplicateKey, place.clone(), Some(*at), message);
            self.found.push(refusal);
        }
    }

    fn plan(&mut self, value: &Value) -> Vec<PhaseSpec> {
        let Some(plan) = value.as_object() else {
            let message = format!(
                "the plan is {}: write an object, `{{\"phases\":[…]}}`",
                shape_of(value)
            );
            self.refuse(Code::WrongType, Place::ROOT, message);
            return Vec::new();
        };
        let phases = Key::Phases.name();
        for name in plan.keys().filter(|name| *name != phases) {
            self.unknown_key(None, name);
        }
        match plan.get(phases) {
            None => self.empty(),
            Some(Value::Array(phases)) => return self.phases(phases),
            Some(other) => self.wrong_type(None, Key::Phases, other),
        }
        Vec::new()
    }

    fn empty(&mut self) {
        let message = format!(
            "the plan has no phases, so the mission would do nothing: write 1 to {MOST_PHASES} in `phases`"
        );
        self.refuse(Code::Empty, Place::of(None, Key::Phases), message);
    }

    fn phases(&mut self, phases: &[Value]) -> Vec<PhaseSpec> {
        if phases.is_empty() {
            self.empty();
        } else if phases.len() > MOST_PHASES {
            let message = format!(
                "the plan has {} phases: merge them into at most {MOST_PHASES}, since each is a full agent run and a handoff loses context at every step",
                phases.len()
            );
            self.refuse(Code::TooMany, Place::of(None, Key::Phases), message);
        }
        let mut before = None;
        let mut specs = Vec::new();
        for (number, value) in numbers().zip(phases) {
            specs.extend(self.phase(number, value));
            self.repeated(number, before, value);
            before = Some(value);
        }
        specs
    }

    fn phase(&mut self, number: Phase, value: &Value) -> Option<PhaseSpec> {
        let Some(phase) = value.as_object() else {
            let message = format!(
                "the phase is {}: write an object with `kind` and `task`",
                shape_of(value)
            );
            self.refuse(Code::WrongType, Place::phase(number), message);
            return None;
        };
        let Raw {
            kind,
            task,
            done_when,
            done_when_check,
            allow_empty,
        } = self.raw(number, phase);
        let checked = done_when_check.is_some();
        let kind = self.kind(number, kind);
        let task = self.task(number, task);
        let done_when = self.condition(number, Key::DoneWhen, done_when);
        let done_when_check = self.condition(number, Key::DoneWhenCheck, done_when_check);
        let allow_empty = self.flag(number, Key::AllowEmpty, allow_empty);
        if kind == Some(PhaseKind::Coding) && !checked {
            self.unchecked(number);
        }
        Some(PhaseSpec {
            allow_empty,
            done_when,
            done_when_check,
            kind: kind?,
            task: task?,
        })
    }

    /// Sorts the keys of a phase; a registered key does not compile until it has its place here.
    fn raw<'a>(&mut self, number: Phase, phase: &'a Object) -> Raw<'a> {
        let mut raw = Raw::default();
        for (name, value) in phase {
            match Key::named(Level::Phase, name) {
                Some(Key::Kind) => raw.kind = Some(value),
                Some(Key::Task) => raw.task = Some(value),
                Some(Key::DoneWhen) => raw.done_when = Some(value),
                Some(Key::DoneWhenCheck) => raw.done_when_check = Some(value),
                Some(Key::AllowEmpty) => raw.allow_empty = Some(value),
                Some(Key::Phases) | None => self.unknown_key(Some(number), name),
            }
        }
        raw
    }

    fn unknown_key(&mut self, number: Option<Phase>, name: &str) {
        let level = number.map_or(Level::Plan, |_| Level::Phase);
        let names = names_at(level);
        let advice = match nearest(name, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "leave it out, or say it in a task;".to_string(),
        };
        let message = format!(
            "`{}` is read by nobody: {advice} the keys here are {}",
            shown(name),
            names.join(", ")
        );
        self.refuse(Code::UnknownKey, Place::key(number, name), message);
    }

    fn wrong_type(&mut self, number: Option<Phase>, key: Key, value: &Value) {
        let entry = key.entry();
        let out = match (value, entry.need) {
            (Value::Null, Need::Optional) => ", or leave it out",
            _ => "",
        };
        let message = format!(
            "`{}` is {}: write {}{out}",
            entry.name,
            shape_of(value),
            entry.shape.words()
        );
        self.refuse(Code::WrongType, Place::of(number, key), message);
    }

    fn kind(&mut self, number: Phase, value: Option<&Value>) -> Option<PhaseKind> {
        let known: Vec<&str> = PhaseKind::ALL.into_iter().map(PhaseKind::name).collect();
        let all = known.join(", ");
        let place = Place::of(Some(number), Key::Kind);
        let Some(value) = value else {
            let message = format!("the phase has no `kind`: use one of {all}");
            self.refuse(Code::UnknownKind, place, message);
            return None;
        };
        let Some(name) = value.as_str() else {
            self.wrong_type(Some(number), Key::Kind, value);
            return None;
        };
        let kind = PhaseKind::ALL.into_iter().find(|kind| kind.name() == name);
        if kind.is_none() {
            let near = nearest(name, &known).map(|near| format!("did you mean `{near}`? use "));
            let message = format!(
                "`{}` is not a kind: {}one of {all}",
                shown(name),
                near.as_deref().unwrap_or("use ")
            );
            self.refuse(Code::UnknownKind, place, message);
        }
        kind
    }

    fn task(&mut self, number: Phase, value: Option<&Value>) -> Option<PhaseText> {
        let place = Place::of(Some(number), Key::Task);
        let Some(value) = value else {
            let message = "the phase has no `task`, so nothing tells its agent which part is its own: say what to do";
            self.refuse(Code::BlankTask, place, message);
            return None;
        };
        let Some(task) = value.as_str() else {
            self.wrong_type(Some(number), Key::Task, value);
            return None;
        };
        if is_blank(task) {
            let message =
                "`task` is blank, so nothing tells its agent which part is its own: say what to do";
            self.refuse(Code::BlankTask, place, message);
            return None;
        }
        if is_placeholder(task) {
            let message = format!(
                "the whole task is `{}`: say what the agent is to do",
                shown(task)
            );
            self.refuse(Code::PlaceholderTask, place, message);
        }
        self.text(number, Key::Task, task)
    }

    fn condition(&mut self, number: Phase, key: Key, value: Option<&Value>) -> Option<PhaseText> {
        let value = value?;
        let Some(text) = value.as_str() else {
            self.wrong_type(Some(number), key, value);
            return None;
        };
        if is_blank(text) {
            let name = key.name();
            let message = format!(
                "`{name}` is blank, and a condition that was asked for may not vanish: say it, or leave the key out"
            );
            self.refuse(Code::BlankCondition, Place::of(Some(number), key), message);
            return None;
        }
        self.text(number, key, text)
    }

    fn text(&mut self, number: Phase, key: Key, text: &str) -> Option<PhaseText> {
        let name = key.name();
        let place = || Place::of(Some(number), key);
        let control = text.chars().find(|c| is_control(*c));
        if let Some(control) = control {
            let message = format!(
                "`{name}` has the control character {}: use newline and tab only",
                control.escape_unicode()
            );
            self.refuse(Code::ControlCharacters, place(), message);
        }
        if text.len() > MOST_TEXT {
            let message = format!(
                "`{name}` has {} bytes: use at most {MOST_TEXT}, and put the rest in a file of the repository",
                text.len()
            );
            self.refuse(Code::TaskTooLong, place(), message);
        }
        text.parse().ok()
    }

    fn flag(&mut self, number: Phase, key: Key, value: Option<&Value>) -> bool {
        match value {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.wrong_type(Some(number), key, other);
                false
            }
        }
    }

    fn unchecked(&mut self, number: Phase) {
        match self.checks {
            Checks::Configured | Checks::Waived => {}
            Checks::None => {
                let message = "no command checks this coding phase, here or in the configuration, and a reviewer is no check: give it a `done_when_check`, a command that exits with 0 when the work holds";
                self.refuse(
                    Code::UncheckedCoding,
                    Place::of(Some(number), Key::DoneWhenCheck),
                    message,
                );
            }
        }
    }

    fn repeated(&mut self, number: Phase, before: Option<&Value>, phase: &Value) {
        let same = before
            .and_then(identity)
            .is_some_and(|before| identity(phase) == Some(before));
        if same {
            let message = "the phase has the kind and the task of the one before it: merge them, or say what is left to do";
            self.refuse(
                Code::DuplicateTask,
                Place::of(Some(number), Key::Task),
                message,
            );
        }
    }
}

/// The kind of a phase and the words of its task; none when either is missing or the task is blank.
fn identity(phase: &Value) -> Option<(&str, Vec<&str>)> {
    let part = |key: Key| phase.as_object()?.get(key.name())?.as_str();
    let task = part(Key::Task).filter(|task| !is_blank(task))?;
    Some((part(Key::Kind)?, task.split_whitespace().collect()))
}

fn is_placeholder(task: &str) -> bool {
    let bare = task.trim_matches(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = bare.split_whitespace().collect();
    PLACEHOLDERS.contains(&words.join(" ").to_lowercase().as_str())
}

/// Whether bounded text would drop this character.
fn is_control(c: char) -> bool {
    Text::<4>::clip(c.encode_utf8(&mut [0; 4]))
        .as_str()
        .is_empty()
}

fn names_at(level: Level) -> Vec<&'static str> {
    let there = KEYS.iter().filter(|entry| entry.level == level);
    there.map(|entry| entry.name).collect()
}

const fn shape_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
