//! What must hold of every input that an agent or a person can write: one plain function for each door, for tests and
//! for fuzzers. Each panics where its law does not hold; what an input should have been read as is not here.
#![expect(
    clippy::missing_panics_doc,
    reason = "each panics where its law does not hold"
)]

use std::collections::BTreeMap;

use backstop_engine::gates::{
    ArtifactKind, GateDraft, Handoff, HandoffDraft, Handoffs, NoVerdict, Payload, SpecFaults,
    Specs, SpecsDraft, Verdict, outside_code, standard_roles,
};
use backstop_engine::plan::{Checks, Plan};
use backstop_engine::vocab::{Digest, Visit, is_blank};
use backstop_engine::{Event, Fact, Mission, Ruling};
use serde_json::Value;

fn artifact() -> ArtifactKind {
    "diff_review".parse().expect("a kind")
}

/// A final message: an approval has its word in its first line, needs no more with an artifact than without, and does not
/// come of more words below a text that had none.
pub fn ruling(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found = Ruling::read(&text, None);
    let shown = serde_json::to_value(&found).expect("a ruling is written");
    let back: Ruling = serde_json::from_value(shown).expect("and read");
    assert_eq!(back, found, "{text:?}");
    let passes = |found: &Ruling| {
        matches!(
            found,
            Ruling::Verdict {
                verdict: Verdict::Pass,
                ..
            }
        )
    };
    if passes(&found) {
        approval(&text);
    }
    let strict = Ruling::read(&text, Some(&artifact()));
    assert!(
        strict == found || strict == Ruling::None(NoVerdict::NoArtifact) && passes(&found),
        "{text:?}"
    );
    let more = Ruling::read(&format!("{text}\nand more words"), None);
    assert!(
        !passes(&more) || passes(&found) || is_blank(&text),
        "{text:?}"
    );
    assert!(outside_code(&text).iter().all(|line| text.contains(line)));
}

/// What must stand in any text that passes, told without the rule itself.
fn approval(text: &str) {
    let body = text.trim();
    if body.starts_with('{') {
        let object: BTreeMap<String, Value> = serde_json::from_str(body).expect("an object");
        let word = object.get("verdict").and_then(Value::as_str);
        let word = word.expect("a word").to_ascii_uppercase();
        assert!(word == "PASS" || word == "APPROVE", "{text:?}");
        return;
    }
    let first = text.split('\n').find(|line| !is_blank(line));
    let letters: String = first
        .expect("a line")
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '*' | '_' | '.' | ':'))
        .collect();
    let letters = letters.to_ascii_uppercase();
    let word = letters.strip_prefix("VERDICT").unwrap_or(&letters);
    assert!(word == "PASS" || word == "APPROVE", "{text:?}");
}

/// A set of gates in JSON: refused, or a set that is read back as it is.
pub fn specs_json(bytes: &[u8]) {
    let Ok(draft) = serde_json::from_slice::<SpecsDraft>(bytes) else {
        assert!(serde_json::from_slice::<Specs>(bytes).is_err());
        return;
    };
    let _ = specs(&draft.gates);
    let own = Specs::load(&draft.gates, &draft.roles);
    assert_eq!(serde_json::from_slice::<Specs>(bytes).ok(), own.ok());
}

/// Gates against the standard roles: whatever is wrong with one of them alone is told with all others, and a set that
/// loads is the same in whatever order it was written.
///
/// # Errors
/// Everything that is wrong.
pub fn specs(drafts: &[GateDraft]) -> Result<Specs, SpecFaults> {
    let roles = standard_roles();
    let all = Specs::load(drafts, &roles);
    let told = all.as_ref().err().map_or(&[][..], SpecFaults::all);
    for (index, draft) in drafts.iter().enumerate() {
        let alone = Specs::load(std::slice::from_ref(draft), &roles);
        for fault in alone.err().iter().flat_map(SpecFaults::all) {
            let again = told
                .iter()
                .any(|told| told.index == index && told.fault == fault.fault);
            assert!(again, "{fault} is not told: {drafts:?}");
        }
    }
    if let Ok(specs) = &all {
        let mut turned = drafts.to_vec();
        turned.reverse();
        let turned = Specs::load(&turned, &roles).expect("the order decides nothing");
        assert_eq!(turned.digest(), specs.digest());
        let written = serde_json::to_string(specs).expect("a set is written");
        let back: Specs = serde_json::from_str(&written).expect("and read");
        assert_eq!(&back, specs);
    }
    all
}

/// What a role hands on: blank exactly where the text is, kept whole or under its digest.
pub fn payload(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let payload = Payload::of(&text);
    assert_eq!(payload.is_blank(), is_blank(&text), "{text:?}");
    match &payload {
        Payload::Inline(kept) => assert!(kept.as_str().len() <= 64 << 10),
        Payload::Blob { digest, head } => {
            assert_eq!(*digest, Digest::of(text.as_bytes()));
            assert!(head.as_str().len() <= 4 << 10);
        }
    }
    let written = serde_json::to_string(&payload).expect("a payload is written");
    let back: Payload = serde_json::from_str(&written).expect("and read");
    assert_eq!(back, payload);
}

/// A handoff or a register of them in JSON: refused, or one that keeps its laws and is read back as it is.
pub fn handoffs(bytes: &[u8]) {
    if let Ok(draft) = serde_json::from_slice::<HandoffDraft>(bytes) {
        let blank = draft.payload.is_blank();
        let read = serde_json::from_slice::<Handoff>(bytes);
        assert_eq!(read.is_err(), blank);
    }
    let Ok(register) = serde_json::from_slice::<Handoffs>(bytes) else {
        return;
    };
    let written = serde_json::to_string(&register).expect("a register is written");
    let back: Handoffs = serde_json::from_str(&written).expect("and read");
    assert_eq!(back, register);
    let open = std::collections::BTreeSet::new();
    let visit = Visit::FIRST;
    for (handoff, _) in register.all() {
        assert!(!handoff.payload().is_blank());
        assert_eq!(handoff.lane(), register.lane());
        let to = handoff.to();
        let (given, items) = register.reserve(to, visit, 4, &open);
        let (_, again) = given.reserve(to, visit, 4, &open);
        assert_eq!(items, again, "a visit is given the same again");
        let (_, later) = given.commit(to, visit).reserve(to, visit.next(), 4, &open);
        assert!(later.iter().all(|one| !items.contains(one)));
    }
}

/// A plan: refused with a code, or one that is read back as it is.
pub fn plan(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Plan::read(&text, Checks::Configured) {
        Ok(plan) => {
            let back = Plan::read(&plan.canonical(), Checks::Configured);
            assert_eq!(back.as_ref().map(Plan::digest), Ok(plan.digest()));
        }
        Err(refusals) => assert!(!refusals.all().is_empty()),
    }
}

/// Facts, one JSON object a line: each is read back as it was, and a mission takes it or refuses it. Those that were
/// taken lead to the same mission again.
pub fn facts(bytes: &[u8]) {
    let mut story = None;
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(event) = serde_json::from_slice::<Event>(line) else {
            continue;
        };
        let written = serde_json::to_string(&event).expect("a fact is written");
        assert_eq!(
            serde_json::from_str::<Event>(&written).ok().as_ref(),
            Some(&event)
        );
        story = told(story, event);
    }
    let Some((mission, taken)) = story else {
        return;
    };
    let again = Mission::replay(mission.charter().clone(), taken);
    assert_eq!(again.as_ref(), Ok(&mission));
}

/// A mission and the facts that it took.
type Story = (Mission, Vec<Event>);

/// The story with one more fact, where it fits. The first that opens a mission begins it.
fn told(story: Option<Story>, event: Event) -> Option<Story> {
    let Some((mission, mut taken)) = story else {
        let Fact::Opened(charter) = event.fact else {
            return None;
        };
        return Some((Mission::open(*charter).mission, Vec::new()));
    };
    let moved = mission.decide(&event).map(|transition| transition.mission);
    match moved {
        Ok(moved) => {
            assert!(moved.now() >= mission.now(), "time runs backwards");
            taken.push(event);
            Some((moved, taken))
        }
        Err(refusal) => {
            assert!(!refusal.to_string().is_empty());
            Some((mission, taken))
        }
    }
}
