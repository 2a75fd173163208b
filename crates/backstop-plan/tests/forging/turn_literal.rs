fn main() {
    let _ = backstop_plan::Turn { number: 1 };
}
