//! Fuzzes the output of `exec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("exec", bytes));
