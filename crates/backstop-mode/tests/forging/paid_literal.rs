use backstop_mode::{Account, Paid};

fn main() {
    let _ = Paid {
        account: Account::Attempts,
    };
}
