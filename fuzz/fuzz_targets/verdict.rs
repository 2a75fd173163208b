//! Fuzzes a model's final message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::verdict(bytes));
