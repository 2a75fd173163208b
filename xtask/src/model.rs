//! A scripted model on loopback, so that a real agent CLI runs without a provider.
//!
//! It speaks four dialects, told apart by the path, and plays one scene at a time; whoever started it may change the scene.
//! Deliberately absent: anything that a CLI asks besides its model, which is answered with "not found".

mod dialect;
mod fault;
mod http;
mod scene;

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use dialect::{Dialect, Event, Told};
use http::Request;
use scene::{Answer, Break};

pub(crate) use scene::{FOR_EVER, SCENES, Scene, WRITTEN};

/// How often a stalled answer looks whether anybody still waits for it.
const LOOK: Duration = Duration::from_millis(200);

/// A model that answers until it is dropped.
#[derive(Debug)]
pub(crate) struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    scene: Mutex<Scene>,
    calls: AtomicU32,
    over: AtomicBool,
}

impl Model {
    /// Starts it on a free port.
    pub(crate) fn start(scene: Scene) -> Result<Self, Failure> {
        let unusable = |error| Failure::unreadable("a port of this machine", error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let shared = Arc::new(Shared {
            scene: Mutex::new(scene),
            calls: AtomicU32::new(0),
            over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &serving));
        Ok(Self { address, shared })
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Plays this scene from the next call on.
    pub(crate) fn play(&self, scene: Scene) {
        *self.shared.scene() = scene;
        self.shared.calls.store(0, Ordering::SeqCst);
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // The listener waits for a connection; this is the last one.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn scene(&self) -> std::sync::MutexGuard<'_, Scene> {
        self.scene.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().flatten() {
        if shared.is_over() {
            return;
        }
        let shared = Arc::clone(shared);
        // An agent that leaves in the middle of an answer is no fault of the model.
        thread::spawn(move || drop(serve(&stream, &shared)));
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = io::BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader)? {
        if shared.is_over() || !respond(stream, &request, shared)? {
            stream.shutdown(Shutdown::Both)?;
            break;
        }
    }
    Ok(())
}

/// Answers one request; whether the connection goes on.
fn respond(mut stream: &TcpStream, request: &Request, shared: &Shared) -> io::Result<bool> {
    let path = request.path.split('?').next().unwrap_or_default();
    if request.method != "POST" {
        let (status, body) = look_up(request, path);
        return http::send(&mut stream, request, status, &[], &body).map(|()| true);
    }
    if path.contains("count_tokens") || path.contains("countTokens") {
        let body = json!({"input_tokens": 100, "totalTokens": 100});
        return http::send(&mut stream, request, 200, &[], &body).map(|()| true);
    }
    let Some(dialect) = Dialect::of(path) else {
        return http::send(&mut stream, request, 404, &[], &missing()).map(|()| true);
    };
    let tools = dialect.tools(&request.body);
    let (call, answer) = shared.answer(dialect, request, &tools);
    let streams = dialect.streams(path, &request.body);
    let told =
        |reply: &scene::Reply| Told::new(reply, &tools, call, dialect.model(path, &request.body));
    match answer {
        Answer::Refused(fault) => {
            let (status, headers, body) = fault::response(dialect, fault);
            http::send(&mut stream, request, status, &headers, &body)?;
        }
        Answer::Page => http::send_page(&mut stream)?,
        Answer::Reply(reply) if streams => {
            let (begun, rest) = dialect.stream(&told(&reply));
            http::begin_stream(&mut stream)?;
            chunks(stream, begun.iter().chain(&rest))?;
            http::end_stream(&mut stream)?;
        }
        Answer::Reply(reply) => {
            http::send(
                &mut stream,
                request,
                200,
                &[],
                &dialect.whole(&told(&reply)),
            )?;
        }
        Answer::Broken(_, Break::Error) if !streams => {
            let (status, headers, body) = fault::response(dialect, fault::Fault::Overloaded);
            http::send(&mut stream, request, status, &headers, &body)?;
        }
        Answer::Broken(reply, how) => {
            return break_off(stream, shared, (dialect, &told(&reply)), (how, streams));
        }
    }
    Ok(true)
}

/// Begins an answer and does not end it.
fn break_off(
    mut stream: &TcpStream,
    shared: &Shared,
    (dialect, told): (Dialect, &Told),
    (how, streams): (Break, bool),
) -> io::Result<bool> {
    if streams {
        http::begin_stream(&mut stream)?;
        chunks(stream, dialect.stream(told).0.iter())?;
    }
    match how {
        Break::Stall => {
            while !shared.is_over() && !http::has_left(stream) {
                thread::sleep(LOOK);
            }
            Ok(false)
        }
        Break::Reset => Ok(false),
        Break::End => http::end_stream(&mut stream).map(|()| true),
        Break::Error => {
            chunks(stream, [dialect.broken()].iter())?;
            http::end_stream(&mut stream).map(|()| true)
        }
    }
}

fn chunks<'a>(mut stream: &TcpStream, events: impl Iterator<Item = &'a Event>) -> io::Result<()> {
    for event in events {
        http::chunk(&mut stream, &event.to_string())?;
    }
    stream.flush()
}

impl Shared {
    /// The number of the call, and what the scene says to it. A call without tools is a side call, such as for a title;
    /// an agent whose calls never have tools makes no others.
    fn answer(
        &self,
        dialect: Dialect,
        request: &Request,
        tools: &[(String, Value)],
    ) -> (u32, Answer) {
        let scene = *self.scene();
        if tools.is_empty() && !request.toolless_agent() {
            return (0, scene.aside(dialect.side_text()));
        }
        let call = self.calls.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let results = dialect.results(&request.body);
        let answer = if tools.is_empty() {
            scene.edit(call)
        } else {
            scene.turn(call, results)
        };
        (call, answer)
    }
}

fn look_up(request: &Request, path: &str) -> (u16, Value) {
    if request.upgrades {
        return (426, json!({"error": {"message": "no websocket"}}));
    }
    if path.ends_with("/models") {
        let list = json!([{"id": "fake-model", "object": "model"}]);
        return (200, json!({"object": "list", "data": list, "models": []}));
    }
    (404, missing())
}

fn missing() -> Value {
    json!({"error": {"message": "not found", "code": 404}})
}
