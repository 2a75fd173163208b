//! The page of evidence: what is left of a claimed success, by stage, kind, visit and what the host saw.

use backstop_engine::outcome::{
    Artifact, EmptyWork, Evidence, HostWork, Measurement, Post, Ruling, Status, TreeChange,
    VisitKind, with_evidence,
};
use backstop_engine::vocab::{PhaseKind, Stage};

use super::{Page, table};

use Measurement::{Found, Unmeasured};

/// One thing that the host looks at, and what it can find.
type Finding = (&'static str, &'static str, fn(&mut Evidence));

const FINDINGS: [Finding; 17] = [
    ("tree", "unmeasured", |e| e.tree = Unmeasured),
    ("tree", "unchanged", |e| {
        e.tree = Found(TreeChange::Unchanged);
    }),
    ("tree", "changed", |e| e.tree = Found(TreeChange::Changed)),
    ("artifact", "unmeasured", |e| e.artifact = Unmeasured),
    ("artifact", "missing", |e| {
        e.artifact = Found(Artifact::Missing);
    }),
    ("artifact", "text", |e| e.artifact = Found(Artifact::Text)),
    ("artifact", "numbers", |e| {
        e.artifact = Found(Artifact::Numbers);
    }),
    ("artifact", "SARIF", |e| {
        e.artifact = Found(Artifact::Sarif { results: 1 });
    }),
    ("protected paths", "unmeasured", |e| {
        e.protected = Unmeasured;
    }),
    ("protected paths", "untouched", |e| {
        e.protected = Found(Vec::new());
    }),
    ("protected paths", "changed", |e| {
        e.protected = Found(vec!["backstop.toml".parse().unwrap_or_default()]);
    }),
    ("verdict", "unmeasured", |e| e.ruling = Unmeasured),
    ("verdict", "missing", |e| e.ruling = Found(Ruling::Missing)),
    ("verdict", "strict", |e| e.ruling = Found(Ruling::Strict)),
    ("host's work", "unmeasured", |e| e.host_work = Unmeasured),
    ("host's work", "not done", |e| {
        e.host_work = Found(HostWork::NotDone);
    }),
    ("host's work", "done", |e| {
        e.host_work = Found(HostWork::Done);
    }),
];

/// Evidence × post, where everything else is in order.
pub(super) fn page() -> Page {
    let posts = posts();
    let titles: Vec<String> = posts.iter().map(|(title, _)| title.clone()).collect();
    let mut head = vec!["what the host saw", "of it"];
    head.extend(titles.iter().map(String::as_str));
    let rows = FINDINGS.map(|finding| {
        let (what, found, _) = finding;
        let mut row = vec![what.to_owned(), found.to_owned()];
        row.extend(posts.iter().map(|(_, post)| said(&alone(*post, finding))));
        row
    });
    let mut all = vec!["all that fails".to_owned(), "at once".to_owned()];
    all.extend(posts.iter().map(|(_, post)| said(&worst(*post))));
    let rows = table(&head, rows.into_iter().chain([all]));
    Page {
        path: "evidence.md",
        body: format!(
            "# What a claimed success needs\n\nEach row alone, all else in order. Any other claim passes as it is; nothing is \
             ever made a success.\n\n{rows}"
        ),
    }
}

fn with(post: Post, evidence: &Evidence) -> Status {
    with_evidence(&post, Status::Success, evidence)
}

/// Evidence with which a claimed success stands.
fn in_order(post: Post) -> Evidence {
    let of = |tree| Evidence {
        tree: Found(tree),
        artifact: Found(Artifact::Numbers),
        protected: Found(Vec::new()),
        ruling: Found(Ruling::Strict),
        host_work: Found(HostWork::Done),
    };
    let unchanged = of(TreeChange::Unchanged);
    if with(post, &unchanged) == Status::Success {
        unchanged
    } else {
        of(TreeChange::Changed)
    }
}

fn alone(post: Post, (_, _, find): Finding) -> Status {
    let mut evidence = in_order(post);
    find(&mut evidence);
    with(post, &evidence)
}

/// Everything that fails by itself, together: which of them is named.
fn worst(post: Post) -> Status {
    let mut evidence = in_order(post);
    for finding in FINDINGS {
        if matches!(alone(post, finding), Status::Failed { .. }) {
            finding.2(&mut evidence);
        }
    }
    with(post, &evidence)
}

fn said(status: &Status) -> String {
    if let Status::Failed { cause } = status {
        return cause.to_string();
    }
    if *status == Status::Success {
        return "stands".to_owned();
    }
    status.kind().to_string()
}

/// Every post, those that nothing sets apart together.
fn posts() -> Vec<(String, Post)> {
    let mut posts: Vec<(String, Post)> = Vec::new();
    for stage in Stage::ALL {
        let found = of_stage(stage);
        match found.as_slice() {
            [(_, first), rest @ ..] if rest.iter().all(|(_, post)| same(*first, *post)) => {
                posts.push((stage.to_string(), *first));
            }
            _ => posts.extend(found),
        }
    }
    posts
}

fn of_stage(stage: Stage) -> Vec<(String, Post)> {
    let mut posts = Vec::new();
    for kind in PhaseKind::ALL {
        let every = [VisitKind::First, VisitKind::Later].map(|visit| {
            [EmptyWork::Refused, EmptyWork::Allowed].map(|empty| Post {
                stage,
                kind,
                visit,
                empty,
            })
        });
        let [[first, allowed], [later, _]] = every;
        if every.iter().flatten().all(|post| same(first, *post)) {
            posts.push((format!("{stage}, {kind}"), first));
            continue;
        }
        posts.push((format!("{stage}, {kind}, first visit"), first));
        posts.push((
            format!("{stage}, {kind}, first visit, `allow_empty`"),
            allowed,
        ));
        posts.push((format!("{stage}, {kind}, later visit"), later));
    }
    posts
}

fn same(one: Post, other: Post) -> bool {
    let statuses = |post: Post| FINDINGS.map(|finding| alone(post, finding));
    statuses(one) == statuses(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(row: &str, column: &str) -> String {
        let body = page().body;
        let cells = |line: &str| -> Vec<String> {
            line.split(" | ")
                .map(|cell| cell.trim_matches(['|', ' ']).to_owned())
                .collect()
        };
        let head = body
            .lines()
            .find(|line| line.starts_with("| what"))
            .unwrap();
        let line = body.lines().find(|line| line.starts_with(row)).unwrap();
        let at = cells(head).iter().position(|cell| cell == column).unwrap();
        cells(line)[at].clone()
    }

    #[test]
    fn no_claim_stands_against_what_the_host_saw() {
        assert_eq!(
            cell("| tree | unchanged", "code, coding, first visit"),
            "no_work"
        );
        assert_eq!(
            cell("| tree | unchanged", "code, coding, later visit"),
            "stands"
        );
        assert_eq!(cell("| tree | changed", "code, research"), "changed_tree");
        assert_eq!(cell("| artifact | text", "code, benchmark"), "no_artifact");
        assert_eq!(cell("| artifact | unmeasured", "define"), "unknown");
        assert_eq!(cell("| verdict | missing", "validate"), "no_verdict");
        assert_eq!(cell("| host's work | not done", "ship"), "unknown");
        assert_eq!(
            cell("| all that fails | at once", "code, research"),
            "protected_path"
        );
    }
}
