use backstop_engine::Lane;
use backstop_engine::vocab::Digest;

fn forge(mut lane: Lane, tree: Digest) -> Lane {
    lane.cleared = Some(tree);
    lane
}

fn main() {
    let _ = forge;
}
