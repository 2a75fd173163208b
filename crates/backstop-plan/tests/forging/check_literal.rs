use backstop_plan::{ClearedCheck, PhaseText};
use backstop_vocab::{Digest, Phase};

fn main() {
    let _ = ClearedCheck {
        command: PhaseText::default(),
        phase: Phase::FIRST,
        plan: Digest::of(b""),
    };
}
