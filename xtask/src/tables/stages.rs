//! The page of stages and kinds of phase.

use backstop_engine::vocab::{PhaseKind, Stage};

use super::{Page, code, table};

/// The stages with what follows each, and the kinds of phase.
pub(super) fn page() -> Page {
    let next = |stage: Stage| {
        stage
            .next()
            .map_or("the end".to_owned(), |next| code(next.name()))
    };
    let stages =
        Stage::ALL.map(|stage| vec![format!("{stage:?}"), code(stage.name()), next(stage)]);
    let kinds = PhaseKind::ALL.map(|kind| vec![format!("{kind:?}"), code(kind.name())]);
    let stages = table(&["stage", "name on the wire", "next"], stages);
    let kinds = table(&["kind of phase", "name on the wire"], kinds);
    Page {
        path: "stages.md",
        body: format!("# Stages and kinds of phase\n\n{stages}\n{kinds}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_in_the_page_with_the_one_after_it() {
        let body = page().body;
        assert!(body.contains("| Code | `code` | `validate` |\n"));
        assert!(body.contains("| Ship | `ship` | the end |\n"));
        assert!(body.contains("| SecurityScan | `security_scan` |\n"));
    }
}
