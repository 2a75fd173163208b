use backstop_engine::{Launch, Order};

fn forge(order: Order) -> Launch {
    Launch { order }
}

fn main() {
    let _ = forge;
}
