//! Fuzzes the output of `qwen`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("qwen", bytes));
