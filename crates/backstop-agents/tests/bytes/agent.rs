//! What must hold of the parser of every adapter, whatever the program of the agent prints. Each function panics where its
//! law does not hold; what an output should have been read as is in the recordings.
//!
//! The bytes are cut at each NUL: what stands before the first one came on standard output, the next piece on standard
//! error, and so on in turn.

use backstop_agents::{
    Adapter, AgentEvent, Classified, EndedBy, Ending, HostFacts, Rule, SpawnFault, Stream, Support,
    Terminal, Transcript, Zone, classify, find,
};
use backstop_outcome::{Account, StatusKind};
use backstop_vocab::Timestamp;
use serde_json::Value;

use super::carriers::{answers, carriers};

/// When everything is heard.
const NOW: Timestamp = Timestamp::from_millis(1_796_000_000_000);

/// The laws of the parser of the agent of this name.
pub(crate) fn agent(name: &str, bytes: &[u8]) {
    let adapter = find(name).expect("an adapter");
    let heard = whole(adapter, bytes);
    torn(adapter, bytes, &heard);
    bounded(bytes, &heard);
    judged(adapter, bytes, &heard);
    quoted(adapter, &String::from_utf8_lossy(some(bytes)));
}

/// The most bytes that are quoted: each is told in many ways.
const QUOTED: usize = 512;

/// Some bytes of many, from a place that their number draws.
fn some(bytes: &[u8]) -> &[u8] {
    let over = bytes.len().saturating_sub(QUOTED);
    let from = bytes.len().wrapping_mul(0x9e37_79b9) % over.saturating_add(1);
    &bytes[from..bytes.len().min(from.saturating_add(QUOTED))]
}

/// What is heard when every piece comes in one read.
fn whole(adapter: &dyn Adapter, bytes: &[u8]) -> Vec<AgentEvent> {
    hear(adapter, bytes, || usize::MAX)
}

/// What is heard when reads give so many bytes.
fn hear(adapter: &dyn Adapter, bytes: &[u8], mut read: impl FnMut() -> usize) -> Vec<AgentEvent> {
    let mut parser = adapter.parser();
    let mut heard = Vec::new();
    let streams = [Stream::Out, Stream::Err].into_iter().cycle();
    for (mut piece, stream) in bytes.split(|byte| *byte == 0).zip(streams) {
        while !piece.is_empty() {
            let (now, later) = piece.split_at(read().min(piece.len()));
            heard.extend(parser.take(stream, now));
            piece = later;
        }
    }
    heard.extend(parser.finish());
    heard
}

/// However the bytes arrive, the same is heard.
fn torn(adapter: &dyn Adapter, bytes: &[u8], heard: &[AgentEvent]) {
    let name = adapter.name();
    let singly = hear(adapter, bytes, || 1);
    assert_eq!(settled(&singly), settled(heard), "{name}, byte by byte");
    let mut state = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let torn = hear(adapter, bytes, || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 97).expect("less than 97") + 1
    });
    assert_eq!(settled(&torn), settled(heard), "{name}, torn");
}

/// The events, with the last of several messages in a row alone: a growing message may be told at every read.
fn settled(heard: &[AgentEvent]) -> Vec<&AgentEvent> {
    let next = heard.iter().skip(1).map(Some).chain([None]);
    let kept = heard.iter().zip(next).filter(|pair| {
        let pair = (pair.0, pair.1);
        !matches!(pair, (AgentEvent::Text(_), Some(AgentEvent::Text(_))))
    });
    kept.map(|(event, _)| event).collect()
}

/// No event is larger than what it was made of, and words of the adapter's own are few. A byte that is no text becomes
/// three.
fn bounded(bytes: &[u8], heard: &[AgentEvent]) {
    let most = bytes.len().saturating_mul(3).saturating_add(64);
    for event in heard {
        assert!(size(event) <= most, "{event:?}");
    }
}

/// The length of an event's words.
fn size(event: &AgentEvent) -> usize {
    match event {
        AgentEvent::Session(words)
        | AgentEvent::Model(words)
        | AgentEvent::ToolOpened(words)
        | AgentEvent::ToolClosed(words, _)
        | AgentEvent::Text(words)
        | AgentEvent::Asks(words)
        | AgentEvent::Ended(Terminal::Asked(words)) => words.len(),
        AgentEvent::Edited
        | AgentEvent::Used(_)
        | AgentEvent::Cost(_)
        | AgentEvent::Trouble(_)
        | AgentEvent::Ended(_) => 0,
    }
}

/// Whether an event may decide how a run ended.
fn decides(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Trouble(_) | AgentEvent::Ended(_))
}

fn transcript(bytes: &[u8], heard: &[AgentEvent]) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.spoke = !bytes.is_empty();
    for event in heard {
        transcript.take(event.clone(), NOW);
    }
    transcript
}

/// Whatever was heard and whatever the host saw, there is a status, and a success is one by every witness.
fn judged(adapter: &dyn Adapter, bytes: &[u8], heard: &[AgentEvent]) {
    let features = adapter.features();
    let transcript = transcript(bytes, heard);
    for host in hosts() {
        let found = classify(features, &transcript, &host);
        let left_well = host.ended_by == EndedBy::Itself
            && host.ending == Ending::Exited(0)
            && host.oom_kills == 0;
        if found.status.kind() == StatusKind::Success {
            assert!(left_well, "{host:?}: {found:?}");
            successful(features.terminal, heard);
        }
        if left_well && !heard.iter().any(decides) {
            unsaid(features.terminal, &found);
        }
    }
}

/// What must have been heard of a success.
fn successful(has_last_word: Support, heard: &[AgentEvent]) {
    let ended = |what: &Terminal| {
        let ended = |event: &AgentEvent| matches!(event, AgentEvent::Ended(word) if word == what);
        heard.iter().any(ended)
    };
    let failed = |event: &AgentEvent| {
        matches!(
            event,
            AgentEvent::Ended(Terminal::Error(_) | Terminal::Aborted)
        )
    };
    assert!(
        has_last_word == Support::No || ended(&Terminal::Success),
        "a success without a last word: {heard:?}"
    );
    assert!(
        !heard.iter().any(failed),
        "a failure was taken back: {heard:?}"
    );
}

/// A run that ended well by its exit alone, and of whose end nothing was said.
fn unsaid(has_last_word: Support, found: &Classified) {
    let wanted = match has_last_word {
        Support::Yes => (StatusKind::Unknown, Rule::NoTerminal),
        Support::No => (StatusKind::Success, Rule::ExitStatus),
    };
    assert_eq!((found.status.kind(), found.rule), wanted);
}

/// Everything that a host can see of an end.
fn hosts() -> impl Iterator<Item = HostFacts> {
    let endings = [
        Ending::NotStarted(SpawnFault::Missing),
        Ending::Exited(0),
        Ending::Exited(1),
        Ending::Exited(127),
        Ending::Exited(137),
        Ending::Signalled(2),
        Ending::Signalled(9),
        Ending::Signalled(11),
        Ending::Unseen,
    ];
    let by = [
        EndedBy::Itself,
        EndedBy::Idle,
        EndedBy::Wall,
        EndedBy::Budget(Account::Cost),
        EndedBy::Stop,
    ];
    let of = move |ending| by.map(move |ended_by| (ending, ended_by));
    let all = endings.into_iter().flat_map(of);
    let all = all.flat_map(|(ending, ended_by)| [0, 1].map(|kills| (ending, ended_by, kills)));
    all.map(|(ending, ended_by, oom_kills)| HostFacts {
        ending,
        ended_by,
        oom_kills,
        zone: Zone::utc(),
    })
}

/// Whatever a model writes and a tool prints, where the program says that it is theirs, decides nothing.
fn quoted(adapter: &dyn Adapter, words: &str) {
    let name = adapter.name();
    for carrier in carriers(name, words) {
        for line in [carrier.to_string(), pretty(&carrier)] {
            let heard = whole(adapter, &printed(&line));
            assert!(!heard.iter().any(decides), "{name}: {heard:?}");
        }
    }
    for answer in answers(name, words) {
        for line in [answer.to_string(), pretty(&answer)] {
            let heard = whole(adapter, &printed(&line));
            let decisive: Vec<_> = heard.iter().filter(|event| decides(event)).collect();
            let success = AgentEvent::Ended(Terminal::Success);
            assert_eq!(decisive, [&success], "{name}");
        }
    }
    if name == "aider" {
        answered(adapter, words);
    }
}

/// However long an agent goes on about the same, what one read of a usual size brings stays small.
#[cfg(test)]
pub(crate) fn endless(name: &str) {
    let adapter = find(name).expect("an adapter");
    let mut lines: Vec<String> = carriers(name, &"x".repeat(200))
        .iter()
        .map(Value::to_string)
        .collect();
    lines.push(format!("Repo-map: disabled\n{}", "word ".repeat(20)));
    for line in lines {
        let read = format!("{line}\n").repeat(65_536 / line.len()).into_bytes();
        let mut parser = adapter.parser();
        let reads = (0..16).map(|_| parser.take(Stream::Out, &read));
        let most = reads
            .map(|heard| heard.iter().map(size).sum::<usize>())
            .max();
        let mut last = parser.take(Stream::Out, b"\nTokens: 1k sent, 2 received.\n");
        last.extend(parser.finish());
        let last = last.iter().map(size).sum();
        let most = most.unwrap_or(0).max(last);
        assert!(most <= 512 << 10, "{name}: {most} bytes of {line}");
    }
}

/// A NUL stands for another stream here.
fn printed(line: &str) -> Vec<u8> {
    format!("{line}\n").replace('\0', " ").into_bytes()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a value is written")
}

/// Aider prints what the model writes as it is, and the line with the tokens after an answer that came whole: nothing of
/// the answer outlasts it. An answer that copies what Aider says in place of one is none.
fn answered(adapter: &dyn Adapter, words: &str) {
    if ["Empty response", "Tokens: "]
        .iter()
        .any(|own| words.contains(own))
    {
        return;
    }
    let output = format!("Repo-map: disabled\nSee: {words}\nTokens: 1.2k sent, 8 received.\n");
    let output = printed(&output);
    let heard = whole(adapter, &output);
    assert_eq!(heard.last(), Some(&AgentEvent::Ended(Terminal::Success)));
    assert_eq!(transcript(&output, &heard).trouble, None, "{heard:?}");
}
