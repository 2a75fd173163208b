//! What must hold of reset times, whatever a notice says: it panics where its law does not hold.

use backstop_agents::{Reset, Until, Zone};
use backstop_vocab::Timestamp;

/// Where hosts stand that tell much apart: no summer time, one, one by half an hour, a day that was left out.
const ZONES: [&str; 4] = [
    "UTC",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
];

/// Notices and fields are read without a fault at any time, and what had to be supposed is near.
pub(crate) fn resets(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    let (name, value) = words.split_once('\n').unwrap_or(("retry-after", &words));
    let found = [
        Reset::find(&words),
        Reset::field(name, value),
        Reset::field("x-ratelimit-reset-requests", value),
    ];
    let seconds = [0, 1_796_000_000, 4_102_444_800, u64::MAX / 1_000];
    for reset in found.into_iter().flatten() {
        for heard in seconds.map(|seconds| Timestamp::from_millis(seconds * 1_000)) {
            for zone in ZONES.map(|name| Zone::named(name).expect("a zone")) {
                near(&reset, heard, &zone);
            }
        }
    }
    let named = Zone::named(&words);
    drop(named);
}

fn near(reset: &Reset, heard: Timestamp, zone: &Zone) {
    let until = reset.resolve(heard, zone);
    if let Until {
        at: Some(at),
        assumed: true,
    } = until
    {
        let year = 366 * 86_400_000;
        assert!(at.since(heard).as_millis() <= year, "{reset:?}: {until:?}");
    }
}
