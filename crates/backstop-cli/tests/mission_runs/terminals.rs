//! Missions on a real pseudo-terminal: one that closes, one that takes no more output, one that is narrow, and what a
//! person types there.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use backstop_engine::{Ended, GateKind, Position};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{BACKSTOP, World, exec_run};

/// Goes on when the test lets it.
const HELD: &str = "cat >/dev/null; echo 1 >work; touch \"$E2E_SIDE/at\"; while ! test -e \"$E2E_SIDE/go\"; do sleep 0.02; done";

/// Goes on at once.
const AGENT: &str = "cat >/dev/null; echo $BACKSTOP_VISIT >work";

/// Stops and goes on with the output: Ctrl-S and Ctrl-Q.
const FREEZE: &str = "\u{13}";
const THAW: &str = "\u{11}";

/// Whether the terminal is the one that controls the program, and so sends it signals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terminal {
    Controls,
    Lent,
}

/// A program at a pseudo-terminal.
struct Seat {
    child: Child,
    master: Option<File>,
    shown: Arc<Mutex<Vec<u8>>>,
    left: Arc<AtomicBool>,
    looking: Option<JoinHandle<()>>,
}

impl Seat {
    fn at(world: &World, terminal: Terminal, columns: u16, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let master = master.unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = File::from(rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap());
        let mut command = match terminal {
            Terminal::Controls => {
                let mut command = Command::new("setsid");
                command.args(["--ctty", BACKSTOP]);
                command
            }
            Terminal::Lent => Command::new(BACKSTOP),
        };
        world.environment(&mut command);
        command.args(args).current_dir(world.repo());
        command
            .stdin(Stdio::from(slave.try_clone().unwrap()))
            .stdout(Stdio::from(slave.try_clone().unwrap()))
            .stderr(Stdio::from(slave));
        let child = command.spawn().unwrap();
        // The command holds the other end too.
        drop(command);
        Self::watch(child, master)
    }

    /// Reads what the terminal shows, until it is left.
    fn watch(child: Child, master: OwnedFd) -> Self {
        let master = File::from(master);
        let (shown, left) = (
            Arc::<Mutex<Vec<u8>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let (mut screen, into, gone) = (
            master.try_clone().unwrap(),
            Arc::clone(&shown),
            Arc::clone(&left),
        );
        let looking = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while !gone.load(Ordering::SeqCst) {
                let moment = Timespec {
                    tv_sec: 0,
                    tv_nsec: 10_000_000,
                };
                let ready = poll(&mut [PollFd::new(&screen, PollFlags::IN)], Some(&moment));
                if ready != Ok(1) {
                    continue;
                }
                // The last program at the terminal has ended.
                let Ok(n @ 1..) = screen.read(&mut bytes) else {
                    return;
                };
                into.lock().unwrap().extend(&bytes[..n]);
            }
        });
        Self {
            child,
            master: Some(master),
            shown,
            left,
            looking: Some(looking),
        }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    fn type_in(&mut self, text: &str) {
        let mut master = self.master.as_ref().unwrap();
        master.write_all(text.as_bytes()).unwrap();
    }

    #[track_caller]
    fn until_shown(&mut self, world: &World, text: &str) {
        world.until(text, || {
            let ended = self.child.try_wait().unwrap().is_some();
            let shown = self.shown();
            assert!(!ended || shown.contains(text), "no `{text}`:\n{shown}");
            shown.contains(text)
        });
    }

    /// Closes the terminal.
    fn hang_up(&mut self) {
        self.left.store(true, Ordering::SeqCst);
        self.looking.take().unwrap().join().unwrap();
        self.master = None;
    }

    /// Waits for the end of the program; its exit status, and everything that was shown.
    #[track_caller]
    fn end(mut self, world: &World) -> (Option<i32>, String) {
        world.until("the end", || self.child.try_wait().unwrap().is_some());
        if let Some(looking) = self.looking.take() {
            looking.join().unwrap();
        }
        let status = self.child.wait().unwrap();
        (status.code(), self.shown())
    }
}

/// What a command shows on a terminal.
#[track_caller]
fn shown(world: &World, args: &[&str]) -> String {
    let seat = Seat::at(world, Terminal::Controls, 80, args);
    seat.end(world).1
}

fn world() -> World {
    World::new().set("TERM", "xterm")
}

fn is_shipped(world: &World) -> bool {
    let mission = world.mission();
    matches!(mission.position(), Position::Ended(Ended::Shipped(_)))
}

#[test]
fn a_mission_outlives_a_terminal_that_is_gone() {
    let world = world().set("RUST_LOG", "debug");
    let mut seat = Seat::at(&world, Terminal::Lent, 80, &exec_run(HELD, "true", &[]));
    world.until_left("at");
    seat.hang_up();
    world.leave("go", "");
    world.until("the gate", || {
        world.facts().last().map(String::as_str) == Some("landed")
    });
    world
        .backstop(&["gate", "approve", "g1"])
        .with(0)
        .telling(&["taken"]);
    let (code, _) = seat.end(&world);
    assert_eq!(code, Some(0));
    assert!(is_shipped(&world));
    world.backstop(&["journal", "verify"]).with(0);
}

#[test]
fn a_terminal_that_hangs_up_parks_its_mission() {
    let world = world();
    let args = exec_run(HELD, "true", &[]);
    let mut seat = Seat::at(&world, Terminal::Controls, 80, &args);
    world.until_left("at");
    seat.hang_up();
    let (code, _) = seat.end(&world);
    assert_eq!(code, Some(130));
    assert!(matches!(world.mission().position(), Position::Parked(..)));
    world.nothing_runs();
}

#[test]
fn a_look_on_a_terminal_that_is_gone_ends_quietly() {
    let world = world();
    let runner = world.start(&exec_run(HELD, "true", &[]));
    world.until_left("at");
    let mut seat = Seat::at(&world, Terminal::Lent, 80, &["logs", "--follow"]);
    seat.until_shown(&world, "implementer at work");
    seat.hang_up();
    world.leave("go", "");
    let (code, _) = seat.end(&world);
    assert_eq!(code, Some(0));
    runner.end().with(3);
}

#[test]
fn a_terminal_that_takes_no_more_holds_no_mission_up_and_misses_no_line() {
    let world = world().set("RUST_LOG", "debug");
    let args = exec_run(HELD, "true", &[]);
    let mut seat = Seat::at(&world, Terminal::Controls, 80, &args);
    world.until_left("at");
    seat.until_shown(&world, "implementer at work");
    seat.type_in(FREEZE);
    world.leave("go", "");
    world.until("the gate", || {
        world.facts().last().map(String::as_str) == Some("landed")
    });
    assert!(!seat.shown().contains("landed"), "{}", seat.shown());
    seat.type_in(THAW);
    for line in [
        "attempt ended: a success",
        "landed  ",
        "parks the mission): ",
    ] {
        seat.until_shown(&world, line);
    }
    seat.type_in(FREEZE);
    world.backstop(&["gate", "approve", "g1"]).with(0);
    world.until("the end", || is_shipped(&world));
    let (code, _) = seat.end(&world);
    assert_eq!(code, Some(0));
}

#[test]
fn a_mission_that_is_taken_up_at_a_gate_asks_as_the_run_did() {
    let world = world();
    let mut first = Seat::at(
        &world,
        Terminal::Controls,
        80,
        &exec_run(AGENT, "true", &[]),
    );
    first.until_shown(&world, "parks the mission): ");
    // Nothing parks it: the process is gone.
    first.child.kill().unwrap();
    let (_, ran) = first.end(&world);
    let mut second = Seat::at(&world, Terminal::Controls, 80, &["resume"]);
    second.until_shown(&world, "parks the mission): ");
    let question = |shown: &str| {
        let from = shown.find("ship gate g1 of mission").unwrap();
        shown[from..].to_owned()
    };
    assert_eq!(question(&second.shown()), question(&ran));
    second.type_in("approve\n");
    second.until_shown(&world, "note");
    second.type_in("\n");
    let (code, shown) = second.end(&world);
    assert_eq!(code, Some(0), "{shown}");
    assert!(is_shipped(&world));
}

#[test]
fn a_parked_gate_is_asked_again_when_the_mission_goes_on() {
    let world = world();
    world.backstop(&exec_run(AGENT, "true", &[])).with(3);
    world.backstop(&["stop", &world.id()]).with(0);
    let mut seat = Seat::at(&world, Terminal::Controls, 80, &["resume"]);
    seat.until_shown(&world, "parks the mission): ");
    seat.type_in("3\n");
    seat.until_shown(&world, "note");
    seat.type_in("no longer wanted\n");
    let (code, shown) = seat.end(&world);
    assert_eq!(code, Some(5), "{shown}");
}

#[test]
fn an_answer_counts_for_the_gate_that_it_was_typed_at() {
    let world = world();
    let args = exec_run(AGENT, "true", &["--mode", "supervise"]);
    let mut seat = Seat::at(&world, Terminal::Controls, 80, &args);
    seat.until_shown(&world, "parks the mission): ");
    world.at_gate(GateKind::Validate, r#"[{"policy":"supervised"}]"#);
    // Half a line stands there when the gate is answered elsewhere.
    seat.type_in("appr");
    seat.until_shown(&world, "appr");
    world
        .backstop(&["gate", "approve", "g1", "--by", "Ada"])
        .with(0);
    seat.until_shown(&world, "ship gate g2 of mission");
    world.until("the second question", || {
        seat.shown().matches("parks the mission): ").count() == 2
    });
    seat.type_in("ove\n");
    seat.until_shown(&world, "`ove` is not one of the answers");
    seat.type_in("approve\n");
    seat.until_shown(&world, "note");
    seat.type_in("\n");
    let (code, shown) = seat.end(&world);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("refused"), "{shown}");
    let mission = world.mission();
    let answers: Vec<&str> = mission
        .answers()
        .iter()
        .map(|(_, by, _)| by.name.as_str())
        .collect();
    assert_eq!(answers, ["Ada", "olga"]);
}

#[test]
fn what_is_typed_while_no_gate_is_open_answers_none() {
    let world = world();
    let agent = format!("if test $BACKSTOP_VISIT = 2; then {HELD}; else {AGENT}; fi");
    let args = exec_run(&agent, "true", &[]);
    let mut seat = Seat::at(&world, Terminal::Controls, 80, &args);
    seat.until_shown(&world, "parks the mission): ");
    let reject = ["gate", "reject", "g1", "--note", "more"];
    world.backstop(&reject).with(0);
    world.until_left("at");
    seat.type_in("approve\n");
    seat.until_shown(&world, "no gate is open: `approve` is not taken");
    world.leave("go", "");
    seat.until_shown(&world, "ship gate g2 of mission");
    seat.type_in("\u{3}");
    let (code, _) = seat.end(&world);
    assert_eq!(code, Some(130));
    assert_eq!(world.mission().answers().len(), 1);
}

/// Sets the title of a window, moves the cursor by a control of one character, and turns the writing around.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";

#[track_caller]
fn harmless(shown: &str) {
    // The live line's own control, and what the terminal makes of the end of a line.
    let shown = shown.replace("\r\u{1b}[2K", "").replace("\r\n", "\n");
    for evil in ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\r'] {
        assert!(!shown.contains(evil), "{evil:?} in {shown:?}");
    }
}

#[test]
fn what_others_wrote_cannot_drive_the_terminal() {
    let world = world();
    let evil = world.leave("evil", &format!("{EVIL}\n"));
    let play = format!(
        "[[step]]\nstage = \"code\"\ndo = [{{ run = \"cat {evil}\" }}, {{ ask = {} }}]\n",
        serde_json::to_string(&format!("{EVIL}\n00:00:00  ship gate g7 opened")).unwrap()
    );
    let script = world.leave("play.toml", &play);
    let check = format!("cat {evil}");
    let args = [
        "run", "do it", "--from", "code", "--script", &script, "--check", &check,
    ];
    let mut seat = Seat::at(&world, Terminal::Controls, 80, &args);
    seat.until_shown(&world, "parks the mission): ");
    seat.type_in("retry\n");
    seat.until_shown(&world, "note");
    seat.type_in("\u{3}");
    let (code, asked) = seat.end(&world);
    assert_eq!(code, Some(130), "{asked}");
    assert!(asked.contains("ship gate g7 opened"), "{asked}");
    harmless(&asked);
    for args in [
        &["gate", "show"][..],
        &["gate", "show", "--json"],
        &["gate", "list"],
        &["status"],
        &["status", "--json"],
        &["logs"],
        &["logs", "--json"],
        &["logs", "--transcript"],
        &["explain"],
        &["explain", "--json"],
        &["report"],
        &["report", "--json"],
        &["report", "--html"],
        &["journal", "tail"],
        &["journal", "export"],
    ] {
        let told = shown(&world, args);
        assert!(!told.is_empty(), "{args:?}");
        harmless(&told);
        // In a page the ends of lines mean nothing.
        for line in told.lines().filter(|_| !args.contains(&"--html")) {
            assert!(!line.starts_with("00:00:00"), "{args:?}: {told}");
        }
    }
}

#[test]
fn the_output_of_a_red_check_is_shown_harmless_at_the_gate() {
    let world = world();
    let evil = world.leave("evil", &format!("before {EVIL} behind\n"));
    let check = format!("cat {evil}; ! test -e work");
    let args = exec_run(AGENT, &check, &["--mode", "supervise"]);
    let mut seat = Seat::at(&world, Terminal::Controls, 80, &args);
    seat.until_shown(&world, "parks the mission): ");
    seat.type_in("\u{3}");
    let (_, asked) = seat.end(&world);
    assert!(asked.contains("  | before "), "{asked}");
    harmless(&asked);
    harmless(&shown(&world, &["gate", "show"]));
}

#[test]
fn a_narrow_terminal_never_wraps_the_live_line() {
    let world = world();
    let mut seat = Seat::at(
        &world,
        Terminal::Controls,
        40,
        &exec_run(HELD, "true", &["--exit-on-gate"]),
    );
    seat.until_shown(&world, "visit 1");
    seat.until_shown(&world, " · 1s");
    world.leave("go", "");
    let (code, shown) = seat.end(&world);
    assert_eq!(code, Some(3));
    let drawn: Vec<&str> = shown
        .split("\r\u{1b}[2K")
        .filter(|drawn| drawn.starts_with('▸'))
        .collect();
    assert!(drawn.len() > 1, "{shown}");
    for line in drawn {
        assert!(line.chars().count() < 40, "{line}");
        assert!(line.ends_with('s') && !line.contains('\n'), "{line}");
    }
}

#[test]
fn a_dumb_terminal_gets_no_control_and_no_color_means_none() {
    let world = world().set("TERM", "dumb");
    let args = exec_run(AGENT, "true", &["--exit-on-gate"]);
    let (code, told) = Seat::at(&world, Terminal::Controls, 80, &args).end(&world);
    assert_eq!(code, Some(3));
    assert!(!told.contains('\u{1b}'), "{told:?}");
    let colored = World::new().set("TERM", "xterm");
    assert!(shown(&colored, &["nonsense"]).contains("\u{1b}["));
    let plain = World::new().set("TERM", "xterm").set("NO_COLOR", "1");
    assert!(!shown(&plain, &["nonsense"]).contains('\u{1b}'));
    assert!(!shown(&world, &["nonsense"]).contains('\u{1b}'));
}
