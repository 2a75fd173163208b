//! Which session an agent is told to take up, and what happens where it cannot.

use backstop_engine::GateKind;

use crate::support::World;

/// Plays Gemini CLI: a limit in its first session, which it then forgets. What it is told to take up is kept beside.
const FORGETFUL: &str = r#"#!/bin/sh
test "$1" = --version && exec echo 0.61.0
resumed=no
for word in "$@"; do
    test "$word" = --resume && resumed=yes
done
echo "$resumed" >> "$E2E_SIDE/launches"
if test $resumed = yes; then
    echo 'Error resuming session: No previous sessions found for this project.' >&2
    exit 42
fi
if test -e "$E2E_SIDE/limited"; then
    echo '{"type":"init","session_id":"the-second"}'
    echo done > out.txt
    echo '{"type":"message","role":"assistant","content":"Done."}'
    echo '{"type":"result","status":"success","stats":{}}'
    exit 0
fi
touch "$E2E_SIDE/limited"
echo '{"type":"init","session_id":"the-first"}'
echo '{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: Resource has been exhausted. Please retry in 1s.]"}}'
exit 173
"#;

#[test]
fn a_session_that_the_agent_has_lost_is_begun_anew_in_the_same_attempt() {
    let world = World::new();
    let program = world.leave("gemini", FORGETFUL);
    world.write(
        "backstop.toml",
        &format!(
            "agent = \"gemini\"\nchecks = [\"grep -q done out.txt\"]\n[agents.gemini]\nprogram = \"{program}\"\n\
             [limits]\nshortest_limit_wait = \"1s\"\n"
        ),
    );
    world.commit("set up");
    assert!(
        world
            .shell(&format!("chmod +x {program}"))
            .status()
            .unwrap()
            .success()
    );
    world.backstop(&["run", "do it", "--from", "code"]).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert_eq!(world.launches(), ["no", "yes", "no"]);
    let count = |fact: &str| world.facts().iter().filter(|name| *name == fact).count();
    assert_eq!((count("attempt_ended"), count("wait_ended")), (2, 1));
}

#[test]
fn an_agent_that_cannot_begin_at_all_needs_a_person() {
    let world = World::new();
    let program = world.leave(
        "gemini",
        "#!/bin/sh\ntest \"$1\" = --version && exec echo 0.61.0\necho no >> \"$E2E_SIDE/launches\"\necho 'Invalid auth method selected.' >&2\nexit 41\n",
    );
    world.write(
        "backstop.toml",
        &format!(
            "agent = \"gemini\"\nchecks = [\"true\"]\n[agents.gemini]\nprogram = \"{program}\"\n"
        ),
    );
    world.commit("set up");
    assert!(
        world
            .shell(&format!("chmod +x {program}"))
            .status()
            .unwrap()
            .success()
    );
    world.backstop(&["run", "do it", "--from", "code"]).with(3);
    assert_eq!(world.gate().kind, GateKind::Infra);
    assert_eq!(world.launches(), ["no"]);
}
