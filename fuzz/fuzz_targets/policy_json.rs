//! Fuzzes policy questions as JSON lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::policy_json(bytes));
