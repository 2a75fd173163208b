//! Fuzzes the output of `codex`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("codex", bytes));
