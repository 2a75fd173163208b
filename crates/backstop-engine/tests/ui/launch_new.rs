use backstop_engine::{Launch, Order, gates::Admitted, mode::Paid};

fn unpaid(order: Order) -> Launch {
    Launch::new(order)
}

fn paid_elsewhere(paid: Paid, admitted: Admitted, order: Order) -> Launch {
    Launch::new(paid, admitted, order)
}

fn main() {
    let _ = (unpaid, paid_elsewhere);
}
