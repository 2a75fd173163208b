//! Offers a gate's answers in place, on a terminal.
//!
//! One thread reads the terminal for as long as the process lives. What is typed counts for the gate that was open when
//! it was typed, and for no other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backstop_engine::vocab::{GateId, Note, Signature};
use backstop_engine::{Answer, Fact, Gate, Mission, Position, Verb};
use backstop_runner::dispatcher::{Observe, Request};
use backstop_runner::git::Host;
use backstop_runner::history::Step;
use backstop_runner::offers;
use backstop_runner::state::Line;
use tokio::sync::{mpsc, oneshot};

use crate::keyboard::{self, Keyboard};
use crate::live::Narrator;
use crate::question;
use crate::screen::{self, Stream};

/// Tells each step, and at a gate asks the person at the terminal, if one is there.
pub struct Asking {
    narrator: Narrator,
    host: Host,
    /// Who answers here; none where nobody does.
    by: Option<Signature>,
    desk: Arc<Desk>,
    reads: bool,
}

/// The gate that a person is asked about now.
#[derive(Default)]
struct Desk(Mutex<Option<Asked>>);

/// A question that is put, and how far it is answered.
struct Asked {
    gate: Gate,
    /// What each answer does, in the order in which the gate offers them.
    does: Vec<String>,
    by: Signature,
    door: mpsc::Sender<Request>,
    /// What was chosen, while its note is asked for.
    verb: Option<Verb>,
}

impl Asking {
    /// Asks `by`; nobody where nobody is there.
    pub fn new(narrator: Narrator, host: Host, by: Option<Signature>) -> Self {
        let (desk, reads) = (Arc::default(), false);
        Self {
            narrator,
            host,
            by,
            desk,
            reads,
        }
    }

    fn ask(&mut self, mission: &Mission, asked: Asked) {
        let text = question::show(mission, &asked.gate, Some(&self.host));
        screen::say(Stream::Out, &format!("\n{text}\n"));
        let mut desk = self.desk.lock();
        // What was typed before the question cannot be an answer to it.
        keyboard::forget();
        asked.offer();
        *desk = Some(asked);
        drop(desk);
        if !std::mem::replace(&mut self.reads, true) {
            let desk = Arc::clone(&self.desk);
            // A thread of its own: reading a terminal blocks, and the loop must hear signals and the door meanwhile.
            let begun = std::thread::Builder::new()
                .name("keyboard".into())
                .spawn(move || desk.listen());
            if begun.is_err() {
                let words = "no answer can be read here: use the commands above elsewhere\n";
                screen::say(Stream::Out, words);
            }
        }
    }
}

impl Observe for Asking {
    fn step(&mut self, step: &Step, mission: &Mission, door: &mpsc::Sender<Request>) {
        self.narrator.step(step, mission, door);
        let Some(by) = self.by.clone() else {
            return;
        };
        match mission.position() {
            Position::AtGate(_, gate) if self.desk.open().as_ref() == Some(&gate.id) => {}
            Position::AtGate(_, gate) => {
                let does = |verb: &Verb| offers::offer(mission, gate, *verb);
                let does = gate.offers.iter().map(does).collect();
                let (gate, door, verb) = (gate.clone(), door.clone(), None);
                self.ask(
                    mission,
                    Asked {
                        gate,
                        does,
                        by,
                        door,
                        verb,
                    },
                );
            }
            Position::Busy(_)
            | Position::Waiting(..)
            | Position::Parked(..)
            | Position::Ended(_) => *self.desk.lock() = None,
        }
    }

    fn stands(&mut self, line: Option<Line>, mission: &Mission) {
        self.narrator.stands(line, mission);
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Option<Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Option<GateId> {
        self.lock().as_ref().map(|asked| asked.gate.id.clone())
    }

    /// Hears every line until the terminal is gone.
    fn listen(&self) {
        let mut keyboard = Keyboard::default();
        while let Some((gate, lines)) = keyboard.read(|| self.open()) {
            for line in lines {
                screen::entered();
                self.hear(gate.as_ref(), &line);
            }
        }
    }

    /// Takes a line that was typed while `gate` was open.
    fn hear(&self, gate: Option<&GateId>, line: &str) {
        let mut desk = self.lock();
        let now = desk.as_ref().map(|asked| asked.gate.id.clone());
        let Some(asked) = desk.as_mut().filter(|_| now.as_ref() == gate) else {
            let late = match gate {
                Some(gate) => format!("gate {gate} is closed: `{line}` is not taken\n"),
                None if line.trim().is_empty() => String::new(),
                None => format!("no gate is open: `{line}` is not taken\n"),
            };
            screen::say(Stream::Out, &late);
            if let Some(asked) = desk.as_ref() {
                asked.offer();
            }
            return;
        };
        let Some(answer) = asked.hear(line) else {
            return;
        };
        let door = asked.door.clone();
        // The loop takes the lock when the answer closes the gate.
        drop(desk);
        if let Some(Err(words)) = send(Fact::Answered(answer), &door) {
            screen::say(Stream::Out, &format!("refused: {words}\n"));
            if let Some(asked) = self.lock().as_ref() {
                asked.offer();
            }
        }
    }
}

impl Asked {
    fn offer(&self) {
        let offers = self.gate.offers.iter().zip(&self.does);
        for (n, (verb, does)) in offers.enumerate() {
            let n = n.saturating_add(1);
            screen::say(Stream::Out, &format!("  {n}  {verb}: {does}\n"));
        }
        screen::prompt("your answer (a number or a word; Ctrl-C parks the mission): ");
    }

    /// The answer, once it is whole.
    fn hear(&mut self, line: &str) -> Option<Answer> {
        let Some(verb) = self.verb.take() else {
            self.choose(line.trim());
            return None;
        };
        match line.parse::<Note>() {
            Ok(note) => Some(Answer {
                gate: self.gate.id.clone(),
                digest: self.gate.digest,
                verb,
                accounts: Vec::new(),
                note: Some(note).filter(|note| !note.is_blank()),
                by: self.by.clone(),
            }),
            Err(error) => {
                screen::say(Stream::Out, &format!("{error}\n"));
                self.offer();
                None
            }
        }
    }

    fn choose(&mut self, chosen: &str) {
        let by_number = chosen
            .parse::<usize>()
            .ok()
            .and_then(|n| self.gate.offers.get(n.checked_sub(1)?));
        let by_name = self.gate.offers.iter().find(|verb| verb.name() == chosen);
        if let Some(verb) = by_number.or(by_name) {
            self.verb = Some(*verb);
            screen::prompt("note (may be empty): ");
        } else {
            let words = format!("`{chosen}` is not one of the answers\n");
            screen::say(Stream::Out, &words);
            self.offer();
        }
    }
}

/// The outcome; none when nobody drives the mission any more.
fn send(fact: Fact, door: &mpsc::Sender<Request>) -> Option<Result<(), String>> {
    let (reply, decided) = oneshot::channel();
    door.blocking_send(Request { fact, reply }).ok()?;
    decided.blocking_recv().ok()
}
