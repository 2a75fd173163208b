//! Journals, looked at from the command line.

use serde_json::Value;

use crate::shows::at_ship_gate;
use crate::support::World;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Changes one byte in the middle of the journal; where its record begins.
fn damage(world: &World) -> usize {
    let mut bytes = std::fs::read(world.journal()).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let start = text.match_indices('\n').nth(1).unwrap().0 + 1;
    let at = start + text[start..].find("\"event\"").unwrap() + 12;
    bytes[at] = bytes[at].wrapping_add(1);
    std::fs::write(world.journal(), bytes).unwrap();
    start
}

#[test]
fn a_sound_journal_is_verified_by_its_records_and_its_head() {
    let world = World::new();
    world
        .backstop(&["journal", "verify"])
        .with(0)
        .telling(&["there is no journal"]);
    at_ship_gate(&world);
    let said = json(&world.backstop(&["journal", "verify", "--json"]).with(0).out);
    let sound = &said[0]["sound"];
    let records = world.history().steps.len();
    assert_eq!(sound["records"], records);
    assert_eq!(sound["unfinished_bytes"], 0);
    let head = sound["head"].as_str().unwrap();
    world
        .backstop(&["journal", "verify", &world.id()])
        .with(0)
        .telling(&[&format!("{records} records"), head]);
}

#[test]
fn a_changed_byte_is_found_with_its_offset_and_stops_no_other_command() {
    let world = World::new();
    at_ship_gate(&world);
    let start = damage(&world);
    let id = world.id();
    let place = format!("record 2 at byte {start} is damaged");
    world
        .backstop(&["journal", "verify"])
        .with(7)
        .telling(&[&place]);
    let said = json(
        &world
            .backstop(&["journal", "verify", &id, "--json"])
            .with(7)
            .out,
    );
    assert!(
        said[0]["damage"].as_str().unwrap().contains(&place),
        "{said}"
    );
    assert_eq!(world.backstop(&["journal", "export", &id]).with(7).out, "");
    world.backstop(&["status", &id]).with(7).telling(&[&place]);
    let all = json(&world.backstop(&["status", "--json"]).with(0).out);
    assert_eq!(all["damaged"][0]["mission"], id.as_str());
    world
        .backstop(&["status"])
        .with(0)
        .telling(&["DAMAGED", &place]);
    world
        .backstop(&["report"])
        .with(0)
        .telling(&["DAMAGED", &place]);
    world.backstop(&["doctor"]).telling(&[&id]);
}

#[test]
fn an_unfinished_write_is_told_and_is_no_damage() {
    let world = World::new();
    at_ship_gate(&world);
    let mut bytes = std::fs::read(world.journal()).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"seq\":");
    std::fs::write(world.journal(), bytes).unwrap();
    world
        .backstop(&["journal", "verify"])
        .with(0)
        .telling(&["13 bytes after the last whole record", "backstop resume"]);
}

#[test]
fn an_export_is_every_record_with_its_rules() {
    let world = World::new();
    at_ship_gate(&world);
    let said = world.backstop(&["journal", "export"]).with(0).out;
    let lines: Vec<Value> = said.lines().map(json).collect();
    assert_eq!(lines.len(), world.history().steps.len());
    for (seq, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], seq);
        assert!(line["at"].is_u64() && line["event"].is_object(), "{line}");
        assert!(!line["because"].as_array().unwrap().is_empty(), "{line}");
    }
    let tail = world.backstop(&["journal", "tail", "-n", "2"]).with(0).out;
    let last: Vec<Value> = tail.lines().map(json).collect();
    assert_eq!(last.as_slice(), &lines[lines.len() - 2..]);
}
