//! Fuzzes what is taken for a configuration.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::config(bytes));
