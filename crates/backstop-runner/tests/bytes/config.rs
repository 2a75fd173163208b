//! What must hold of every file that is taken for a configuration: it panics where its law does not hold.

use std::path::Path;

use backstop_runner::config::{ceilings, parse};

/// A configuration is refused in words, or its ceilings fit together.
pub(crate) fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Path::new("backstop.toml");
    match parse(path, &text) {
        Ok(file) => {
            ceilings(path, &text, &file).expect("a file that is read has ceilings that fit");
        }
        Err(error) => assert!(error.to_string().contains("backstop.toml"), "{error}"),
    }
}
