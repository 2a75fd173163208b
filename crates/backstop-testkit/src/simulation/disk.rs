//! The disk under the journal: full, short of a write, failing to sync, and torn at a loss of power.

use std::io::{self, ErrorKind, Read, Write};

use backstop_runner::journal::Medium;

use super::world::{Here, World};

fn gone() -> io::Error {
    io::Error::new(ErrorKind::BrokenPipe, "the process was killed")
}

impl World {
    fn alive(&self) -> io::Result<()> {
        if self.is_dead { Err(gone()) } else { Ok(()) }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kill("killed before an append");
        self.alive()?;
        if self.is_full || self.fault(self.mood.disk, "disk full") {
            self.is_full = true;
            return Err(ErrorKind::StorageFull.into());
        }
        let mut taken = bytes.len();
        if self.fault(self.mood.disk, "short write") {
            taken = self.tape.index(bytes.len());
            self.is_full = true;
        } else if self.fault(self.mood.kill, "killed within an append") {
            taken = self.tape.index(bytes.len());
            self.is_dead = true;
        }
        self.bytes.extend(bytes.iter().take(taken));
        self.kill("killed after an append");
        self.alive().map(|()| taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.kill("killed before a sync");
        self.alive()?;
        if self.fault(self.mood.disk, "failed sync") {
            return Err(io::Error::other("the disk did not answer"));
        }
        self.durable = self.bytes.len();
        self.kill("killed after a sync");
        self.alive()
    }
}

impl Read for Here {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut world = self.world();
        let mut rest = world.bytes.get(world.read..).unwrap_or_default();
        let read = rest.read(into)?;
        world.read += read;
        Ok(read)
    }
}

impl Write for Here {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.world().append(bytes) {
            Ok(0) => Err(ErrorKind::StorageFull.into()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Medium for Here {
    fn sync_data(&self) -> io::Result<()> {
        self.world().flush()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.world().flush()
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut world = self.world();
        world.kill("killed before a cut");
        world.alive()?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        world.bytes.truncate(length);
        world.durable = world.durable.min(length);
        Ok(())
    }
}
