//! Fuzzes what is taken for a journal.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::journal(bytes));
