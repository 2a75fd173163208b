//! Reset times: each wording of the corpus, and what holds for all of them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests fail by panicking, also in what they share"
)]

use backstop_agents::{Reset, Until, Zone};
use backstop_vocab::Timestamp;
use proptest::prelude::*;
use serde::Deserialize;

const CORPUS: &str = include_str!("resets.json");

#[derive(Deserialize)]
struct Group {
    #[serde(rename = "group")]
    title: String,
    heard: String,
    zone: String,
    /// The words, the moment, and `assumed` where something was.
    #[serde(default)]
    cases: Vec<Vec<Option<String>>>,
    /// The name and the value of a field, and the same.
    #[serde(default)]
    fields: Vec<Vec<Option<String>>>,
}

fn corpus() -> Vec<Group> {
    serde_json::from_str(CORPUS).unwrap()
}

fn moment(text: &str) -> Timestamp {
    let moment: jiff::Timestamp = text.parse().unwrap();
    Timestamp::from_millis(moment.as_millisecond().try_into().unwrap())
}

/// As RFC 3339 in UTC.
fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_millis().try_into().unwrap())
        .unwrap()
        .to_string()
}

/// What the corpus says of it: nothing was found, or a moment, perhaps open, and whether it was assumed.
fn judged(found: Option<&Reset>, heard: Timestamp, zone: &Zone) -> Option<(Option<String>, bool)> {
    let Until { at, assumed } = found?.resolve(heard, zone);
    Some((at.map(rfc3339), assumed))
}

fn wanted(case: &[Option<String>]) -> Option<(Option<String>, bool)> {
    let (at, assumed) = match case {
        [at] => (at, false),
        [at, Some(assumed)] if assumed == "assumed" => (at, true),
        _ => panic!("{case:?} is no case"),
    };
    (at.is_some() || assumed).then(|| (at.clone(), assumed))
}

#[test]
fn each_wording_is_read() {
    let mut wrong = Vec::new();
    for group in corpus() {
        let (heard, zone) = (moment(&group.heard), Zone::named(&group.zone).unwrap());
        for case in &group.cases {
            let words = case[0].as_deref().unwrap();
            let is = judged(Reset::find(words).as_ref(), heard, &zone);
            if is != wanted(&case[1..]) {
                wrong.push(format!("{}: {words}: {is:?}", group.title));
            }
        }
        for field in &group.fields {
            let (name, value) = (field[0].as_deref().unwrap(), field[1].as_deref().unwrap());
            let is = judged(Reset::field(name, value).as_ref(), heard, &zone);
            if is != wanted(&field[2..]) {
                wrong.push(format!("{}: {name}: {value}: {is:?}", group.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_corpus_is_not_small() {
    let rows = corpus()
        .iter()
        .map(|group| group.cases.len() + group.fields.len())
        .sum::<usize>();
    assert!(rows >= 200, "{rows}");
}

#[test]
fn a_zone_is_read_back_as_it_is_shown() {
    for name in [
        "Europe/Berlin",
        "UTC",
        "+02:00",
        "-05:30",
        "America/New_York",
    ] {
        let zone = Zone::named(name).unwrap();
        assert_eq!(Zone::named(&zone.to_string()), Some(zone), "{name}");
    }
    assert_eq!(Zone::named("europe/berlin"), Zone::named("Europe/Berlin"));
    assert_eq!(Zone::named("Z"), Some(Zone::utc()));
    assert_eq!(Zone::named("UTC+2"), Zone::named("+0200"));
    for name in [
        "",
        "Mars/Olympus",
        "+25:00",
        "+1:2:3",
        "+",
        "Etc/Unknown",
        "2",
    ] {
        assert_eq!(Zone::named(name), None, "{name}");
    }
}

#[test]
fn a_number_is_an_epoch_by_its_size() {
    let at = |ms| Some(Reset::At(Timestamp::from_millis(ms)));
    assert_eq!(Reset::epoch(1_760_000_400), at(1_760_000_400_000));
    assert_eq!(Reset::epoch(1_760_000_400_123), at(1_760_000_400_123));
    for count in [0, 429, 999_999_999, 100_000_000_000, u64::MAX] {
        assert_eq!(Reset::epoch(count), None, "{count}");
    }
    assert_eq!(Reset::seconds(5), Reset::After { millis: 5_000 });
}

#[test]
fn only_the_head_of_a_long_notice_is_read() {
    let long = "é".repeat(20_000) + " resets in 5 hours";
    assert_eq!(Reset::find(&long), None);
    let many = "resets 3pm (Europe/Berlin) ".repeat(100_000);
    assert!(Reset::find(&many).is_some());
}

/// Between 2001 and 2100, to the second.
fn seconds() -> impl Strategy<Value = u64> {
    1_000_000_000..4_102_444_800_u64
}

fn zones() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Africa/Casablanca",
        "America/St_Johns",
    ])
}

/// Pieces of notices in any order.
fn notice() -> impl Strategy<Value = String> {
    let pieces = vec![
        "resets",
        "retry",
        "try again",
        "in",
        "at",
        "until",
        "wait",
        "|",
        ":",
        "\"",
        "(",
        ")",
        ",",
        ".",
        "-",
        "+",
        "/",
        " ",
        "\\n",
        "\\u",
        "\u{1b}[",
        "3",
        "12",
        "59",
        "2026",
        "99999999999999999999",
        "1760000400",
        "am",
        "pm",
        "T",
        "Z",
        "UTC",
        "Europe/Berlin",
        "Oct",
        "Feb",
        "Monday",
        "tomorrow",
        "midnight",
        "h",
        "ms",
        "days",
        "é",
        "\u{202f}",
        "retry-after",
        "resetsAt",
        "PerDay",
        "th",
        "\n",
    ];
    let piece = prop_oneof![
        prop::sample::select(pieces).prop_map(str::to_owned),
        "\\PC{0,3}"
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_panics(words in prop_oneof![notice(), any::<String>()], heard: u64, zone in zones()) {
        let (heard, zone) = (Timestamp::from_millis(heard), Zone::named(zone).unwrap());
        let found = [Reset::find(&words), Reset::field("retry-after", &words), Reset::field(&words, &words)];
        for found in found.into_iter().flatten() {
            let _ = found.resolve(heard, &zone);
        }
        let _ = Zone::named(&words);
    }

    #[test]
    fn what_was_assumed_is_near(words in notice(), heard in seconds(), zone in zones()) {
        let (heard, zone) = (Timestamp::from_millis(heard * 1_000), Zone::named(zone).unwrap());
        if let Some(Until { at: Some(at), assumed: true }) = Reset::find(&words).map(|found| found.resolve(heard, &zone)) {
            prop_assert!(at.since(heard).as_millis() <= 366 * 86_400_000, "{words}");
        }
    }

    #[test]
    fn a_printed_span_is_read_back(millis in 0..40 * 86_400_000_u64) {
        let (s, ms) = (millis / 1_000, millis % 1_000);
        let (d, h, m, sec) = (s / 86_400, s / 3_600 % 24, s / 60 % 60, s % 60);
        let hours = s / 3_600;
        let spans = [
            format!("{millis}ms"),
            format!("{s}.{ms:03}s"),
            format!("{hours}h{m}m{sec}.{ms:03}s"),
            format!("{d}d {h}h {m}m {sec}s {ms}ms"),
            format!("{d} days, {h} hours, {m} minutes and {sec}.{ms:03} seconds"),
        ];
        for span in spans {
            let words = format!("Please try again in {span}. Retrying...");
            prop_assert_eq!(Reset::find(&words), Some(Reset::After { millis }), "{}", words);
        }
        let countdown = format!("resets in {hours}:{m:02}:{sec:02}");
        prop_assert_eq!(Reset::find(&countdown), Some(Reset::seconds(s)));
    }

    #[test]
    fn a_printed_moment_is_read_back(seconds in seconds(), millis in 0..1_000_u64) {
        let at = jiff::Timestamp::from_second(seconds.try_into().unwrap()).unwrap();
        let civil = at.to_string();
        let http = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let whole = Some(Reset::At(Timestamp::from_millis(seconds * 1_000)));
        for said in [civil.clone(), http, seconds.to_string()] {
            prop_assert_eq!(Reset::find(&format!("limit reached, resets at {said}.")), whole.clone(), "{}", said);
            prop_assert_eq!(Reset::field("retry-after", &said), whole.clone(), "{}", said);
            let json = format!("{{\"resets_at\":\"{said}\",\"retries\":5}}");
            prop_assert_eq!(Reset::find(&json), whole.clone(), "{}", json);
        }
        let part = Some(Reset::At(Timestamp::from_millis(seconds * 1_000 + millis)));
        let fraction = civil.replace('Z', &format!(".{millis:03}Z"));
        prop_assert_eq!(Reset::find(&format!("resets at {fraction}")), part.clone());
        prop_assert_eq!(Reset::epoch(seconds * 1_000 + millis), part);
    }

    #[test]
    fn a_time_of_day_is_within_a_day(heard in seconds(), hour in 0..24_u64, minute in 0..60_u64, zone in zones()) {
        let heard = Timestamp::from_millis(heard * 1_000);
        let half = if hour < 12 { "am" } else { "pm" };
        let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
        let said = [format!("resets {twelve}:{minute:02}{half} ({zone})"), format!("resets {hour:02}:{minute:02} ({zone})")];
        let host = Zone::named("Asia/Tokyo").unwrap();
        let [first, second] = said.map(|words| Reset::find(&words).unwrap().resolve(heard, &host));
        let at = first.at.unwrap();
        prop_assert_eq!(second.at, Some(at));
        prop_assert_eq!(first.assumed, at < heard);
        // The grace is an hour, and a day on which the clocks change has an hour more.
        prop_assert!(heard.since(at).as_millis() <= 3_600_000);
        prop_assert!(at.since(heard).as_millis() <= 25 * 3_600_000);
        // In the zone's own clock it is that time, or the first after a gap.
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(zone).unwrap();
        let civil = zone.to_datetime(jiff::Timestamp::from_millisecond(at.as_millis().try_into().unwrap()).unwrap());
        let said = i8::try_from(hour).unwrap();
        let shown = (civil.hour(), civil.minute());
        let gap = shown != (said, i8::try_from(minute).unwrap());
        if gap {
            let before = jiff::Timestamp::from_millisecond(i64::try_from(at.as_millis()).unwrap() - 1).unwrap();
            prop_assert!(zone.to_offset(before) != zone.to_offset(before + jiff::SignedDuration::from_millis(1)));
        }
    }
}
