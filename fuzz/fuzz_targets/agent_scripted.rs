//! Fuzzes the output of `scripted`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("scripted", bytes));
