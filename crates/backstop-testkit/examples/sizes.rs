#![allow(warnings)]
use backstop_testkit::engine::mode::{Account, Mode};
use backstop_testkit::engine::vocab::PhaseKind;
use backstop_testkit::engine::*;
use backstop_testkit::moves::Outside;
use backstop_testkit::*;
const LEAST: [(Account, u64); 8] = [
    (Account::Streak, 1),
    (Account::PhaseFailures, 2),
    (Account::Infra, 1),
    (Account::InfraTotal, 1),
    (Account::QuotaWaits, 1),
    (Account::Preflight, 1),
    (Account::CheckpointResumes, 1),
    (Account::Attempts, 600),
];
fn main() {
    let which: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let cap: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let small = || Opening::default().ceilings(&[(Account::Attempts, 600)]);
    let least = || Opening::default().ceilings(&LEAST);
    let p = Palette::default();
    let (o, p, un) = match which {
        0 => (small(), p, vec![Account::Attempts]),
        1 => (small().mode(Mode::Supervise), p, vec![Account::Attempts]),
        2 => (
            least(),
            Palette {
                grants: 1,
                outside: vec![Outside::Stop],
                ..p
            },
            vec![Account::Attempts],
        ),
        3 => (
            least()
                .scout()
                .phases(&[PhaseKind::Research, PhaseKind::Coding]),
            Palette {
                outside: vec![Outside::Supervise],
                ..p
            },
            vec![Account::Attempts],
        ),
        4 => (least().empty_allowed(), p, vec![Account::Attempts]),
        5 => (least(), p, vec![Account::Attempts]),
        6 => (least(), Palette { grants: 1, ..p }, vec![Account::Attempts]),
        _ => (
            least(),
            Palette {
                outside: vec![Outside::Stop],
                ..p
            },
            vec![Account::Attempts],
        ),
    };
    let mut n = 0usize;
    let mut last = 0;
    let t = std::time::Instant::now();
    let mut places = std::collections::BTreeMap::<String, usize>::new();
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        explore(o.charter(), &p, &un, |s| {
            n += 1;
            if let Some((to, true)) = s.to {
                if to > cap {
                    panic!("cap")
                }
                let m = &s.outcome.as_ref().unwrap().mission;
                let f = format!("{:?}", fingerprint(m, &un));
                let place = f.split("mode:").next().unwrap().to_string();
                *places.entry(place).or_default() += 1;
                if to % 2000 == 0 {
                    println!("{to} at {} {:?}", n, t.elapsed());
                }
            }
        })
    }));
    for (k, v) in &places {
        println!("{v} {k}");
    }
    println!(
        "{:?} states {n} moves {:?}",
        r.map(|g| (g.states(), g.longest())).ok(),
        t.elapsed()
    );
}
