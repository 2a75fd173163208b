//! Fuzzes the output of `opencode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("opencode", bytes));
