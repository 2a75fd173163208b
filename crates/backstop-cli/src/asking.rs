//! Offers a gate's answers in place, on a terminal.

use std::io::{BufRead as _, Write};

use backstop_engine::vocab::{Note, Signature};
use backstop_engine::{Answer, Fact, Gate, Mission, Position, Verb};
use backstop_runner::dispatcher::{Observe, Request};
use backstop_runner::git::Host;
use backstop_runner::history::Step;
use backstop_runner::words;
use tokio::sync::{mpsc, oneshot};

use crate::live::Narrator;
use crate::question;

/// Tells each step, and at a gate asks the person at the terminal, if one is there.
pub struct Asking<W> {
    narrator: Narrator<W>,
    host: Host,
    /// Who answers here; none where nobody does.
    by: Option<Signature>,
}

impl<W: Write> Asking<W> {
    /// Asks `by`; nobody where nobody is there.
    pub const fn new(narrator: Narrator<W>, host: Host, by: Option<Signature>) -> Self {
        Self { narrator, host, by }
    }
}

impl<W: Write + Send> Observe for Asking<W> {
    fn step(&mut self, step: &Step, mission: &Mission, door: &mpsc::Sender<Request>) {
        self.narrator.tell(step, mission);
        if let (Position::AtGate(_, gate), Some(by)) = (mission.position(), &self.by) {
            println!("\n{}", question::show(mission, gate, Some(&self.host)));
            let (gate, by, door) = (gate.clone(), by.clone(), door.clone());
            // A thread of its own: reading a terminal blocks, and the loop must hear signals and the door meanwhile.
            std::thread::spawn(move || ask(&gate, &by, &door));
        }
    }
}

/// Asks until an answer is taken, or the terminal or the gate is gone.
fn ask(gate: &Gate, by: &Signature, door: &mpsc::Sender<Request>) {
    while let Some(verb) = choose(gate) {
        let Some(note) = read("note (may be empty): ") else {
            return;
        };
        let note = match note.parse::<Note>() {
            Ok(note) => Some(note).filter(|note| !note.is_blank()),
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        let answer = Answer {
            gate: gate.id.clone(),
            digest: gate.digest,
            verb,
            accounts: Vec::new(),
            note,
            by: by.clone(),
        };
        match send(Fact::Answered(answer), door) {
            Some(Ok(())) | None => return,
            Some(Err(words)) => println!("refused: {words}"),
        }
    }
}

fn choose(gate: &Gate) -> Option<Verb> {
    loop {
        for (n, verb) in gate.offers.iter().enumerate() {
            println!(
                "  {}  {verb}: {}",
                n.saturating_add(1),
                words::offer(gate.kind, *verb)
            );
        }
        let chosen = read("your answer (a number or a word; Ctrl-C parks the mission): ")?;
        let chosen = chosen.trim();
        let by_number = chosen
            .parse::<usize>()
            .ok()
            .and_then(|n| gate.offers.get(n.checked_sub(1)?));
        let by_name = gate.offers.iter().find(|verb| verb.name() == chosen);
        match by_number.or(by_name) {
            Some(verb) => return Some(*verb),
            None => println!("`{chosen}` is not one of the answers"),
        }
    }
}

fn read(prompt: &str) -> Option<String> {
    print!("{prompt}");
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

/// The outcome; none when nobody drives the mission any more.
fn send(fact: Fact, door: &mpsc::Sender<Request>) -> Option<Result<(), String>> {
    let (reply, decided) = oneshot::channel();
    door.blocking_send(Request { fact, reply }).ok()?;
    decided.blocking_recv().ok()
}
