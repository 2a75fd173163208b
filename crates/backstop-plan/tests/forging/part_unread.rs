fn read(phase: &backstop_plan::PhaseSpec) {
    let backstop_plan::Parts { kind: _, task: _, done_when: _, allow_empty: _ } = phase.parts();
}

fn main() {}
