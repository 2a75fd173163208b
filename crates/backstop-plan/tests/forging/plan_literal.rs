fn main() {
    let _ = backstop_plan::Plan { phases: Vec::new() };
}
