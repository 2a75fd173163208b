fn change(mut phase: backstop_plan::PhaseSpec) {
    phase.allow_empty = true;
}

fn main() {}
