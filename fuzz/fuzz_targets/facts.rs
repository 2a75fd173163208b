//! Fuzzes the facts of a mission.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::facts(bytes));
