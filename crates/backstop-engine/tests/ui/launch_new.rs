use backstop_engine::{Launch, Order, mode::Paid};

fn unpaid(order: Order) -> Launch {
    Launch::new(order)
}

fn paid_elsewhere(paid: Paid, order: Order) -> Launch {
    Launch::new(paid, order)
}

fn main() {
    let _ = (unpaid, paid_elsewhere);
}
