//! Fuzzes the output of `claude`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("claude", bytes));
