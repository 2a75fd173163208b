//! Gate specs: what is refused, all at once, and what a checked set is.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use backstop_gates::{
    GateDraft, GateKind, Judged, OnFail, Role, SpecFaults, Specs, SpecsDraft, Trigger,
    default_board, standard_roles, stopship,
};
use backstop_vocab::Digest;

fn draft(id: &str, role: &str) -> GateDraft {
    let json = format!(
        r#"{{"id":"{id}","role":"{role}","on":"role_complete","gate":"verify","on_fail":"block"}}"#
    );
    serde_json::from_str(&json).unwrap()
}

fn blocking(id: &str, role: &str, blocked: &str) -> GateDraft {
    GateDraft {
        blocks_role: Some(blocked.into()),
        ..draft(id, role)
    }
}

fn load(drafts: &[GateDraft]) -> Result<Specs, SpecFaults> {
    Specs::load(drafts, &standard_roles())
}

/// Place and code of every fault.
fn faults(drafts: &[GateDraft]) -> Vec<(usize, &'static str)> {
    let faults = load(drafts).unwrap_err();
    let each = faults.all().iter();
    each.map(|fault| (fault.index, fault.fault.code()))
        .collect()
}

#[test]
fn every_fault_is_refused_with_its_gate_and_code() {
    let start = |blocked: &str| GateDraft {
        on: Trigger::RoleStart,
        ..blocking("a", "scout", blocked)
    };
    let retries = |on_fail, max_retries| GateDraft {
        on_fail,
        max_retries: Some(max_retries),
        ..draft("a", "scout")
    };
    let artifact = |kind: &str| GateDraft {
        artifact_kind: Some(kind.into()),
        ..draft("a", "scout")
    };
    let implicit = |gate| GateDraft {
        gate,
        require_explicit_verdict: false,
        ..draft("a", "scout")
    };
    let cases = [
        (draft(" ", "scout"), "blank_id"),
        (draft("a b", "scout"), "bad_id"),
        (draft(&"a".repeat(65), "scout"), "bad_id"),
        (draft("a", "nobody"), "unknown_role"),
        (draft("a", ""), "unknown_role"),
        (blocking("a", "scout", "nobody"), "unknown_role"),
        (blocking("a", "scout", "Scout"), "blocks_itself"),
        (start("planner"), "start_blocks_other"),
        (retries(OnFail::Block, 1), "retries_unread"),
        (retries(OnFail::Escalate, 1), "retries_unread"),
        (retries(OnFail::Retry, 0), "retries_out_of_range"),
        (retries(OnFail::Retry, 11), "retries_out_of_range"),
        (artifact("unheard_of"), "unread_artifact"),
        (artifact("a b"), "bad_artifact_kind"),
        (artifact(""), "bad_artifact_kind"),
        (implicit(GateKind::Verify), "verdict_unread"),
        (implicit(GateKind::Approve), "verdict_unread"),
    ];
    for (gate, code) in cases {
        assert_eq!(
            faults(&[draft("first", "scout"), gate.clone()]),
            [(1, code)],
            "{gate:?}"
        );
    }
    assert!(load(&[retries(OnFail::Retry, 10)]).is_ok());
    assert!(load(&[implicit(GateKind::Review)]).is_ok());
    assert!(load(&[start("SCOUT")]).is_ok());
}

#[test]
fn all_faults_are_reported_at_once() {
    let worst = GateDraft {
        max_retries: Some(3),
        artifact_kind: Some("unheard_of".into()),
        require_explicit_verdict: false,
        ..blocking("", "nobody", "no one")
    };
    let drafts = [
        worst,
        draft("A", "scout"),
        draft("a", "planner"),
        draft("a", "nobody"),
    ];
    let found = faults(&drafts);
    let wanted = [
        (0, "blank_id"),
        (0, "unknown_role"),
        (0, "unknown_role"),
        (0, "retries_unread"),
        (0, "unread_artifact"),
        (0, "verdict_unread"),
        (2, "duplicate_id"),
        (3, "unknown_role"),
        (3, "duplicate_id"),
    ];
    assert_eq!(found, wanted);
    let all = load(&drafts).unwrap_err();
    let each: Vec<String> = all.all().iter().map(ToString::to_string).collect();
    assert_eq!(all.to_string(), each.join("; "));
}

#[test]
fn roles_that_wait_for_each_other_are_refused_at_every_gate_of_the_cycle() {
    let cycle = [
        blocking("a", "scout", "planner"),
        blocking("b", "planner", "implementer"),
        blocking("c", "implementer", "scout"),
        blocking("d", "scout", "reviewer"),
    ];
    assert_eq!(faults(&cycle), [(0, "cycle"), (1, "cycle"), (2, "cycle")]);
    let words = load(&cycle).unwrap_err().to_string();
    assert!(
        words.contains("planner → implementer → scout → planner"),
        "{words}"
    );
    let diamond = [
        blocking("a", "scout", "planner"),
        blocking("b", "scout", "implementer"),
        blocking("c", "planner", "reviewer"),
        blocking("d", "implementer", "reviewer"),
    ];
    assert!(load(&diamond).is_ok());
}

#[test]
fn a_fault_shows_the_value_and_what_to_do() {
    let words = load(&[draft("a", "scuot")]).unwrap_err().to_string();
    assert_eq!(
        words,
        "gate 0 (`a`): `role` names the unknown role `scuot`: use one of scout, planner, implementer, reviewer, verifier, release_lead"
    );
    let wire = serde_json::to_value(load(&[draft(" ", "scout")]).unwrap_err()).unwrap();
    let wanted = serde_json::json!([{
        "index": 0, "id": " ", "code": "blank_id",
        "message": "the id is blank: give each gate a name of its own",
    }]);
    assert_eq!(wire, wanted);
}

#[test]
fn unknown_keys_and_names_are_refused() {
    let good =
        r#"{"id":"a","role":"scout","on":"role_complete","gate":"verify","on_fail":"block"}"#;
    assert!(serde_json::from_str::<GateDraft>(good).is_ok());
    for (from, to) in [
        ("\"id\"", "\"block_role\":\"x\",\"id\""),
        ("role_complete", "role_completed"),
        ("verify", "vote"),
        ("block\"", "ignore\""),
        ("\"on_fail\":\"block\"", "\"max_retries\":1"),
    ] {
        assert!(
            serde_json::from_str::<GateDraft>(&good.replace(from, to)).is_err(),
            "{to}"
        );
    }
}

#[test]
fn a_start_gate_blocks_its_own_role() {
    let start = GateDraft {
        on: Trigger::RoleStart,
        ..draft("a", "Planner")
    };
    let specs = load(&[start, draft("b", "planner")]).unwrap();
    let blocked: Vec<_> = specs
        .gates()
        .iter()
        .map(|gate| gate.blocks_role())
        .collect();
    assert_eq!(blocked, [Some(&"planner".parse().unwrap()), None]);
}

#[test]
fn retries_default_to_one_and_belong_to_retry() {
    for on_fail in OnFail::ALL {
        let gate = GateDraft {
            on_fail: *on_fail,
            ..draft("a", "scout")
        };
        let wanted = u32::from(*on_fail == OnFail::Retry);
        assert_eq!(load(&[gate]).unwrap().gates()[0].max_retries(), wanted);
    }
}

#[test]
fn the_digest_is_of_the_gates_and_not_of_their_order() {
    let (a, b) = (draft("a", "scout"), blocking("b", "scout", "planner"));
    let digest = |drafts: &[GateDraft]| load(drafts).unwrap().digest();
    assert_eq!(
        digest(&[a.clone(), b.clone()]),
        digest(&[b.clone(), a.clone()])
    );
    let base = GateDraft {
        on_fail: OnFail::Retry,
        gate: GateKind::Review,
        ..a.clone()
    };
    let others = [
        a.clone(),
        GateDraft {
            id: "z".into(),
            ..base.clone()
        },
        GateDraft {
            role: "planner".into(),
            ..base.clone()
        },
        GateDraft {
            on: Trigger::RoleStart,
            ..base.clone()
        },
        GateDraft {
            gate: GateKind::Approve,
            ..base.clone()
        },
        GateDraft {
            on_fail: OnFail::Block,
            ..base.clone()
        },
        GateDraft {
            blocks_role: Some("planner".into()),
            ..base.clone()
        },
        GateDraft {
            max_retries: Some(2),
            ..base.clone()
        },
        GateDraft {
            artifact_kind: Some("findings".into()),
            ..base.clone()
        },
        GateDraft {
            require_explicit_verdict: false,
            ..base.clone()
        },
    ];
    let mut digests = vec![digest(&[]), digest(&[base])];
    digests.extend(others.map(|other| digest(&[other])));
    let all = digests.len();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), all);
    assert_eq!(Specs::none().digest(), digest(&[]));
}

#[test]
fn stored_specs_meet_the_same_checks_and_come_back_equal() {
    let specs = load(&stopship()).unwrap();
    let json = serde_json::to_string(&specs).unwrap();
    assert_eq!(serde_json::from_str::<Specs>(&json).unwrap(), specs);
    let forged = json.replace("\"role\":\"scout\"", "\"role\":\"nobody\"");
    assert!(serde_json::from_str::<Specs>(&forged).is_err());
    assert!(serde_json::from_str::<Specs>(&json.replace("\"gates\"", "\"gate\"")).is_err());
}

#[test]
fn the_presets_load_and_are_what_they_are_documented_to_be() {
    let line = |draft: &GateDraft| {
        let blocked = draft.blocks_role.as_deref().unwrap_or("-");
        let artifact = draft.artifact_kind.as_deref().unwrap_or("-");
        let retries = draft.max_retries.map_or(String::new(), |n| format!(" {n}"));
        let GateDraft {
            id,
            role,
            gate,
            on_fail,
            ..
        } = draft;
        format!("{id}: {role}, {gate}, {on_fail}{retries} -> {blocked}, {artifact}")
    };
    let lines = |drafts: &[GateDraft]| drafts.iter().map(line).collect::<Vec<_>>();
    assert_eq!(
        lines(&stopship()),
        [
            "scout-findings: scout, approve, block -> implementer, findings",
            "reviewer-diff: reviewer, review, block -> verifier, diff_review",
            "verifier-suite: verifier, verify, retry 2 -> release_lead, verify_report",
        ]
    );
    assert_eq!(
        lines(&default_board()),
        [
            "checks: implementer, verify, block -> reviewer, -",
            "review: reviewer, review, block -> -, -",
        ]
    );
    assert_eq!(load(&stopship()).unwrap().gates().len(), 3);
    assert_eq!(load(&default_board()).unwrap().gates().len(), 2);
    let names: Vec<String> = standard_roles()
        .iter()
        .map(|role| role.name.to_string())
        .collect();
    assert_eq!(
        names,
        [
            "scout",
            "planner",
            "implementer",
            "reviewer",
            "verifier",
            "release_lead"
        ]
    );
}

#[test]
fn an_approval_of_an_artifact_judges_that_and_every_other_gate_the_tree() {
    let (tree, findings) = (Digest::of(b"tree"), Digest::of(b"findings"));
    let judged = Judged::of_tree(tree).with("findings".parse().unwrap(), findings);
    for kind in GateKind::ALL {
        for artifact in [
            None,
            Some("findings".to_owned()),
            Some("outline".to_owned()),
        ] {
            let gate = GateDraft {
                gate: *kind,
                artifact_kind: artifact.clone(),
                ..draft("a", "scout")
            };
            let wanted = match (kind, artifact.as_deref()) {
                (GateKind::Approve, Some("findings")) => Some(findings),
                (GateKind::Approve, Some(_)) => None,
                _ => Some(tree),
            };
            let specs = load(&[gate]).unwrap();
            let spec = &specs.gates()[0];
            assert_eq!(spec.subject(&judged), wanted);
            let kind = spec.artifact_kind().map(ToString::to_string);
            assert_eq!(kind, artifact);
        }
    }
}

#[test]
fn a_role_reads_only_what_it_is_written_to_read() {
    let role: Role = serde_json::from_str(r#"{"name":"Cook","consumes":["Menu"]}"#).unwrap();
    let gate = |kind: &str| GateDraft {
        artifact_kind: Some(kind.into()),
        ..draft("a", "cook")
    };
    let roles = vec![role];
    let draft = |kind| SpecsDraft {
        gates: vec![gate(kind)],
        roles: roles.clone(),
    };
    assert!(Specs::try_from(draft("menu")).is_ok());
    let words = Specs::try_from(draft("findings")).unwrap_err().to_string();
    assert!(words.ends_with(
        "no role consumes the artifact kind `findings`: use one of menu, or leave it out"
    ));
}
