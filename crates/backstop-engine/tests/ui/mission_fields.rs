use backstop_engine::Mission;
use backstop_engine::mode::Mode;
use backstop_engine::vocab::Digest;

fn forge(mission: &mut Mission, tree: Digest) {
    mission.mode = Mode::Auto;
    mission.lane.cleared = Some(tree);
    mission.landed.clear();
}

fn main() {
    let _ = forge;
}
