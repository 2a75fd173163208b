//! Fuzzes the output of `gemini`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("gemini", bytes));
