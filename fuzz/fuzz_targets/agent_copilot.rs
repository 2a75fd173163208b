//! Fuzzes the output of `copilot`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::agent("copilot", bytes));
