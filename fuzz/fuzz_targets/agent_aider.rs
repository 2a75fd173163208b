//! Fuzzes the output of `aider`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("aider", bytes));
