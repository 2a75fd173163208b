//! As much of HTTP/1.1 as agent CLIs speak: requests with a length or in chunks, answers whole or streamed.

use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// What was asked.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// Null where it is no JSON.
    pub(super) body: Value,
    /// It wants a socket.
    pub(super) upgrades: bool,
    agent: String,
    length: usize,
    chunked: bool,
}

impl Request {
    /// The next one; none where the other side has closed.
    pub(super) fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let mut request = Self {
            method: words.next().unwrap_or_default(),
            path: words.next().unwrap_or_default(),
            ..Self::default()
        };
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            request.header(&name.to_ascii_lowercase(), value.trim());
        }
        let body = if request.chunked {
            chunked(reader)?
        } else {
            exactly(reader, request.length)?
        };
        request.body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Some(request))
    }

    fn header(&mut self, name: &str, value: &str) {
        match name {
            "content-length" => self.length = value.parse().unwrap_or_default(),
            "transfer-encoding" => self.chunked = value.eq_ignore_ascii_case("chunked"),
            "upgrade" => self.upgrades = true,
            "user-agent" => value.clone_into(&mut self.agent),
            _ => {}
        }
    }

    /// Whether it comes from an agent that edits by the text of answers.
    pub(super) fn toolless_agent(&self) -> bool {
        self.agent.to_ascii_lowercase().contains("litellm")
            || self.agent.starts_with("OpenAI/Python")
            || self.agent.starts_with("AsyncOpenAI/Python")
    }
}

fn exactly(reader: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn chunked(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(length, 16)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        body.extend(exactly(reader, length)?);
        line.clear();
        reader.read_line(&mut line)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

/// Sends a whole answer in JSON; its length alone where only the head is asked for.
pub(super) fn send(
    stream: &mut impl Write,
    request: &Request,
    status: u16,
    headers: &[(&str, String)],
    body: &Value,
) -> io::Result<()> {
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n"
    )?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "content-length: {}\r\n\r\n", body.len())?;
    if request.method != "HEAD" {
        stream.write_all(body.as_bytes())?;
    }
    stream.flush()
}

/// Sends a page for people, as a proxy does that fails.
pub(super) fn send_page(stream: &mut impl Write) -> io::Result<()> {
    let body = "<html><body>Proxy error: bad gateway</body></html>";
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    stream.flush()
}

/// Begins an answer of unknown length.
pub(super) fn begin_stream(stream: &mut impl Write) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes())
}

/// Sends a part of it.
pub(super) fn chunk(stream: &mut impl Write, text: &str) -> io::Result<()> {
    write!(stream, "{:x}\r\n{text}\r\n", text.len())?;
    stream.flush()
}

/// Ends it as it should end.
pub(super) fn end_stream(stream: &mut impl Write) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")?;
    stream.flush()
}

/// Whether the other side has closed.
pub(super) fn has_left(mut stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let left = match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    };
    left || stream.set_nonblocking(false).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Request> {
        Request::read(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn a_body_is_read_by_its_length_or_in_chunks() {
        let whole =
            read("POST /v1/messages HTTP/1.1\r\nContent-Length: 7\r\n\r\n{\"a\":1}rest").unwrap();
        assert_eq!(
            (whole.path.as_str(), whole.body.to_string().as_str()),
            ("/v1/messages", "{\"a\":1}")
        );
        let pieces = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4;x=y\r\n\":2}\r\n0\r\n\r\n";
        assert_eq!(read(pieces).unwrap().body.to_string(), "{\"a\":2}");
        assert!(read("").is_none());
    }

    #[test]
    fn a_stream_is_sent_in_chunks_to_its_end() {
        let mut sent = Vec::new();
        begin_stream(&mut sent).unwrap();
        chunk(&mut sent, "data: x\n\n").unwrap();
        end_stream(&mut sent).unwrap();
        let sent = String::from_utf8(sent).unwrap();
        assert!(
            sent.ends_with("\r\n\r\n9\r\ndata: x\n\n\r\n0\r\n\r\n"),
            "{sent}"
        );
    }
}
