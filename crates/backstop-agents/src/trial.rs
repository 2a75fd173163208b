//! What the tests of adapters share: output that is heard to its end, and what it comes to.

use backstop_outcome::Status;
use backstop_vocab::Timestamp;
use serde_json::Value;

use crate::{Adapter, EndedBy, Ending, HostFacts, Stream, Transcript, Zone, classify};

/// When everything is heard.
pub(crate) const AT: Timestamp = Timestamp::from_millis(0);

/// What an agent says in plain lines on standard error and then in objects on standard output.
pub(crate) fn heard(agent: &dyn Adapter, out: &[Value], err: &str) -> Transcript {
    let mut parser = agent.parser();
    let mut events = parser.take(Stream::Err, err.as_bytes());
    for line in out {
        events.extend(parser.take(Stream::Out, format!("{line}\n").as_bytes()));
    }
    events.extend(parser.finish());
    let mut transcript = Transcript::default();
    for event in events {
        transcript.take(event, AT);
    }
    transcript
}

/// What that comes to when its process ends so.
pub(crate) fn status_of(
    agent: &dyn Adapter,
    transcript: &Transcript,
    ending: Ending,
    ended_by: EndedBy,
) -> Status {
    let host = HostFacts {
        ending,
        ended_by,
        oom_kills: 0,
        zone: Zone::utc(),
    };
    classify(agent.features(), transcript, &host).status
}
