use backstop_mode::Paid;

fn launch(_: Paid) {}

fn twice(paid: Paid) {
    launch(paid);
    launch(paid);
}

fn copied(paid: &Paid) -> Paid {
    paid.clone()
}

fn main() {}
