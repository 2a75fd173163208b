//! A running agent: watched while it runs, stopped in order, swept up behind.
//!
//! The agent is reaped last. Until then its number, and so the number of its group, cannot belong to anyone else: a
//! signal to the group is safe as long as this file sends it.
//!
//! Deliberately absent: why an agent is stopped. A listener or a stopper says so.

use std::future::{pending, ready};
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use rustix::process::{Signal, kill_process_group};
use tokio::process::Child;
use tokio::select;
use tokio::signal::unix::Signal as Signals;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::children::Listed;
use super::ended::{Ended, EndedBy, Exit};
use super::identity::{Identity, raw};
use super::oom::Counter;
use super::output::{Feed, Heard, Idle, Listen, Output};
use super::spawn::{Limits, Spawn, Stdin};
use super::sweep::{KILL_LIMIT, Scent, Swept, reap_orphans};
use super::watchdog::{Due, Watchdog};

/// How long survivors of an agent get to leave by themselves.
const SWEEP_GRACE: Duration = Duration::from_secs(1);

/// How long the kernel gets to hand over the status of a process that has ended.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How often a child is looked at whose end nobody tells of.
const UNTOLD: Duration = Duration::from_secs(1);

/// How often it is looked at what ends without telling.
const LOOK: Duration = Duration::from_millis(20);

/// How often it is looked at what an agent has started: who descends from it is remembered, who has ended is reaped.
const LOOK_AROUND: Duration = Duration::from_secs(30);

/// Why an agent is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// An operator, or the end of the runner.
    Stop,
    /// A ceiling is reached.
    Budget,
}

impl From<Order> for EndedBy {
    fn from(order: Order) -> Self {
        match order {
            Order::Stop => Self::Stop,
            Order::Budget => Self::Budget,
        }
    }
}

/// Stops an agent from elsewhere. Clones stop the same agent; the first order counts.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<Option<Order>>);

impl Stopper {
    /// Asks for the agent to be stopped; of no effect when it has ended.
    pub fn stop(&self, order: Order) {
        self.0.send_if_modified(|given| {
            let first = given.is_none();
            given.get_or_insert(order);
            first
        });
    }
}

/// An agent that was started and not yet waited for. Dropped, it is killed with all that it started.
pub struct Running {
    // Before the child, so that on a drop the group is killed while the leader is unreaped.
    leash: Leash,
    child: Child,
    gone: Gone,
    output: Output,
    feed: Feed,
    limits: Limits,
    watchdog: Watchdog,
    stopper: Stopper,
    orders: watch::Receiver<Option<Order>>,
    oom: Option<Counter>,
    // After the child, so that it is on the list as long as it is there.
    _listed: Listed,
}

impl Running {
    /// Takes over a child that was just started, after `signals` of children were listened for.
    pub(super) fn of(
        (mut child, listed): (Child, Listed),
        spawn: Spawn,
        signals: Signals,
    ) -> io::Result<Self> {
        let lost = || io::Error::other("it has no number or `/proc` cannot be read: mount `/proc`");
        let scent = listed.scent().ok_or_else(lost)?;
        let leader = scent.leader();
        let leash = Leash {
            leader,
            scent,
            held: true,
        };
        let (sender, orders) = watch::channel(None);
        let text = match spawn.stdin {
            Stdin::Null => Vec::new(),
            Stdin::Text(text) => text,
        };
        Ok(Self {
            leash,
            gone: Gone {
                leader,
                signals,
                next_look: Instant::now(),
            },
            output: Output::of(&mut child, spawn.keep),
            feed: Feed::new(child.stdin.take(), text),
            limits: spawn.limits,
            watchdog: Watchdog::new(spawn.limits.idle, spawn.limits.wall, Instant::now()),
            stopper: Stopper(sender),
            orders,
            oom: Counter::find(),
            child,
            _listed: listed,
        })
    }

    /// The agent's own process; to be recorded before anything else happens.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.leash.leader
    }

    /// A way to stop it from elsewhere.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits until it has ended, by itself or stopped, and nothing of it is left. `listener` hears all output on the way.
    ///
    /// Never waits for pipes that a survivor holds. Dropping the future kills the agent.
    pub async fn wait(mut self, listener: &mut impl Listen) -> Ended {
        let ended_by = self.watch(listener).await;
        self.leash.scent.remember();
        let grace = match ended_by {
            EndedBy::Itself => {
                self.watchdog.pass(Instant::now());
                // What was started in a pipeline with the agent may still have something to say.
                self.output.drain(self.limits.drain, listener).await;
                SWEEP_GRACE.min(self.limits.stop_grace)
            }
            EndedBy::Idle | EndedBy::Wall | EndedBy::Linger | EndedBy::Stop | EndedBy::Budget => {
                self.terminate(listener).await;
                self.watchdog.pass(Instant::now());
                Duration::ZERO
            }
        };
        let swept = self.leash.scent.sweep(grace).await;
        let drained = self.output.drain(self.limits.drain, listener).await;
        self.end(ended_by, swept, drained).await
    }

    /// Until it is gone or is to be stopped.
    async fn watch(&mut self, listener: &mut impl Listen) -> EndedBy {
        let mut looked = Instant::now();
        loop {
            let next = match self.watchdog.due() {
                Some(due) => self.limit(due, listener).await,
                None => self.happen(listener).await,
            };
            let heard = match next {
                ControlFlow::Break(ended_by) => return ended_by,
                ControlFlow::Continue(heard) => heard,
            };
            self.watchdog.pass(Instant::now());
            match heard {
                Heard::Carry => {}
                Heard::AllowSilence(most) => self.watchdog.allow_silence(most),
                Heard::Done => self.watchdog.finish(self.limits.linger),
                Heard::Stop(order) => return order.into(),
            }
            if looked.elapsed() > LOOK_AROUND {
                self.leash.scent.remember();
                reap_orphans();
                looked = Instant::now();
            }
        }
    }

    /// Whatever comes first.
    async fn happen(&mut self, listener: &mut impl Listen) -> ControlFlow<EndedBy, Heard> {
        let heard = select! {
            biased;
            () = self.gone.wait() => return ControlFlow::Break(EndedBy::Itself),
            order = ordered(&mut self.orders) => return ControlFlow::Break(order.into()),
            () = sleep(self.watchdog.sleep()) => Heard::Carry,
            heard = self.output.next(listener) => {
                self.watchdog.hear(Instant::now());
                heard
            }
            () = self.feed.write() => Heard::Carry,
        };
        ControlFlow::Continue(heard)
    }

    /// A limit is reached. Silence is only silence when nothing waits to be read and nobody knows of other signs of life.
    async fn limit(&mut self, due: Due, listener: &mut impl Listen) -> ControlFlow<EndedBy, Heard> {
        match due {
            Due::Wall => return ControlFlow::Break(EndedBy::Wall),
            Due::Linger => return ControlFlow::Break(EndedBy::Linger),
            Due::Silence => {}
        }
        let waiting = select! {
            biased;
            () = self.gone.wait() => return ControlFlow::Break(EndedBy::Itself),
            heard = self.output.next(listener) => Some(heard),
            () = ready(()) => None,
        };
        let heard = match waiting {
            Some(heard) => heard,
            None => match listener.idle(self.watchdog.silent()) {
                Idle::Stop => return ControlFlow::Break(EndedBy::Idle),
                Idle::Wait => Heard::Carry,
            },
        };
        self.watchdog.hear(Instant::now());
        ControlFlow::Continue(heard)
    }

    /// SIGTERM to the group, the grace, SIGKILL to the group. What the agent says meanwhile is still heard.
    async fn terminate(&mut self, listener: &mut impl Listen) {
        self.leash.signal_group(Signal::TERM);
        // A stopped process takes SIGTERM only when it goes on.
        self.leash.signal_group(Signal::CONT);
        let left = async {
            self.gone.wait().await;
            while self.leash.scent.has_group() {
                sleep(LOOK).await;
            }
        };
        let left = timeout(self.limits.stop_grace, left);
        let _ = self.output.hear_during(left, listener).await;
        self.leash.signal_group(Signal::KILL);
        let gone = timeout(KILL_LIMIT, self.gone.wait());
        let _ = self.output.hear_during(gone, listener).await;
    }

    /// Reaps it and lets go.
    async fn end(mut self, ended_by: EndedBy, swept: Swept, drained: bool) -> Ended {
        let exit = match timeout(LAST_LOOK, self.child.wait()).await {
            Ok(Ok(status)) => Exit::from(status),
            Ok(Err(_)) | Err(_) => Exit::Unreaped,
        };
        let mut left = swept.left;
        if self.leash.leader.is_alive() {
            left.push(self.leash.leader);
        }
        self.leash.held = false;
        reap_orphans();
        let (stdout, stderr) = self.output.captured();
        Ended {
            exit,
            ended_by,
            stdout,
            stderr,
            active: self.watchdog.active(),
            swept: swept.swept,
            left,
            drained,
            oom: Counter::moved(self.oom.as_ref()),
        }
    }
}

/// The first order; pending for ever when none can come any more.
async fn ordered(orders: &mut watch::Receiver<Option<Order>>) -> Order {
    loop {
        let given = *orders.borrow_and_update();
        match given {
            Some(order) => return order,
            None if orders.changed().await.is_err() => return pending().await,
            None => {}
        }
    }
}

/// Tells when our child is gone, without reaping it.
struct Gone {
    leader: Identity,
    signals: Signals,
    /// An embedder may have blocked SIGCHLD in all its threads; then it is only looked for now and then.
    next_look: Instant,
}

impl Gone {
    /// May be waited for again and again, and given up in between.
    async fn wait(&mut self) {
        loop {
            select! {
                biased;
                Some(()) = self.signals.recv() => {}
                () = sleep_until(self.next_look) => {}
            }
            if !self.leader.is_alive() {
                // Whoever asks again is told at once.
                self.next_look = Instant::now();
                return;
            }
            self.next_look = Instant::now() + UNTOLD;
        }
    }
}

/// Holds an agent's group: let go only when it was waited for.
struct Leash {
    leader: Identity,
    scent: Scent,
    // INVARIANT: while held, the leader is unreaped, so its number is its own.
    held: bool,
}

impl Leash {
    fn signal_group(&self, signal: Signal) {
        if let Some(pid) = raw(self.leader.pid) {
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if self.held {
            self.signal_group(Signal::KILL);
            self.scent.kill();
        }
    }
}
