//! What a process prints, kept without secrets. A disk that refuses costs the recording, not the work: the journal will
//! say that the disk is full.

use backstop_engine::vocab::Digest;

use crate::blobs::Spool;
use crate::edge::Ground;
use crate::process::Pipe;
use crate::redact::Stream;

/// Both pipes of one process on their way into one blob.
pub(super) struct Recording<'a> {
    spool: Spool,
    out: Stream<'a>,
    err: Stream<'a>,
    clean: Vec<u8>,
}

impl<'a> Recording<'a> {
    pub(super) fn new(ground: &'a Ground, spool: Spool) -> Self {
        let stream = || ground.redactor.stream();
        Self {
            spool,
            out: stream(),
            err: stream(),
            clean: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        let stream = match pipe {
            Pipe::Stdout => &mut self.out,
            Pipe::Stderr => &mut self.err,
        };
        stream.push(bytes, &mut self.clean);
        let _ = self.spool.write(&self.clean);
        self.clean.clear();
    }

    /// The blob, where the disk took it.
    pub(super) fn finish(mut self) -> Option<Digest> {
        self.out.finish(&mut self.clean);
        self.err.finish(&mut self.clean);
        let _ = self.spool.write(&self.clean);
        self.spool.finish().ok().map(|kept| kept.digest)
    }
}
