fn copy(approved: &backstop_plan::Approved) -> backstop_plan::Approved {
    approved.clone()
}

fn main() {}
