//! What a mission needs of the machine before it begins: room on each disk that it writes to, and memory.
//!
//! Deliberately absent: what is made of it (the preflight, the doctor).

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::process::{BoundBy, FreeMemory};

/// The least that must be free, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// On each disk.
    pub disk: u64,
    /// In memory.
    pub memory: u64,
}

impl Default for Need {
    fn default() -> Self {
        Self {
            disk: 64 << 20,
            memory: 256 << 20,
        }
    }
}

impl Need {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What was found, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Enough.
    Enough(String),
    /// Nothing tells how much.
    Unknown(String),
    /// Too little, and what to do.
    Lacking(String),
}

const fn mib(bytes: u64) -> u64 {
    bytes >> 20
}

/// How much is free on the disks that these places lie on, each disk once.
pub(crate) fn disks(places: &[&Path], least: u64) -> Found {
    let mut seen = Vec::new();
    let mut words = Vec::new();
    for place in places {
        let device = std::fs::metadata(place).map(|found| found.dev()).ok();
        if device.is_some() && seen.contains(&device) {
            continue;
        }
        seen.push(device);
        let shown = place.display();
        let free = match rustix::fs::statvfs(*place) {
            Ok(found) => found.f_bavail.saturating_mul(found.f_frsize),
            Err(error) => return Found::Lacking(format!("cannot look at `{shown}`: {error}")),
        };
        let found = format!("{} MiB free at `{shown}`", mib(free));
        if free < least {
            return Found::Lacking(format!(
                "{found}, and {} MiB are needed: free some space, or lower `[run] min_free_disk` for new missions",
                mib(least)
            ));
        }
        words.push(found);
    }
    Found::Enough(words.join(", "))
}

/// How much memory is free.
pub(crate) fn memory(least: u64) -> Found {
    judged(FreeMemory::look(), least)
}

fn judged(free: Option<FreeMemory>, least: u64) -> Found {
    let Some(FreeMemory { bytes, by }) = free else {
        return Found::Unknown(
            "how much is free cannot be told: neither `/proc/meminfo` nor a control group says so"
                .into(),
        );
    };
    let whose = match by {
        BoundBy::Machine => "free",
        BoundBy::Group => "left below the limit of the control group",
    };
    let found = format!("{} MiB {whose}", mib(bytes));
    if bytes >= least {
        return Found::Enough(found);
    }
    Found::Lacking(format!(
        "{found}, and {} MiB are needed: end something that uses it, or lower `[run] min_free_memory` for new missions",
        mib(least)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_names_the_figures_and_what_to_do() {
        let free = |bytes, by| Some(FreeMemory { bytes, by });
        let machine = free(255 << 20, BoundBy::Machine);
        assert_eq!(
            judged(machine, 255 << 20),
            Found::Enough("255 MiB free".into())
        );
        let Found::Lacking(words) = judged(machine, 256 << 20) else {
            panic!("255 MiB are not 256");
        };
        assert!(
            words.starts_with("255 MiB free, and 256 MiB are needed: "),
            "{words}"
        );
        assert!(matches!(judged(None, 1), Found::Unknown(_)));
        let group = judged(free(1, BoundBy::Group), 0);
        assert_eq!(
            group,
            Found::Enough("0 MiB left below the limit of the control group".into())
        );
    }

    #[test]
    fn each_disk_is_named_once() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("a");
        std::fs::create_dir(&inside).unwrap();
        let Found::Enough(words) = disks(&[root.path(), &inside], 1) else {
            panic!("a byte is free");
        };
        assert_eq!(words.matches("MiB free").count(), 1, "{words}");
        let lacking = disks(&[&inside], u64::MAX);
        assert!(matches!(&lacking, Found::Lacking(words) if words.contains("min_free_disk")));
        let gone = disks(&[&root.path().join("b")], 0);
        assert!(matches!(&gone, Found::Lacking(words) if words.contains("cannot look at")));
    }
}
