//! Traits that must be absent: a payment or a meter that could be read, copied or made from nothing.

use backstop_mode::{Meter, Paid};

/// Compiles only while the type does not have the trait: with it, the marker can no longer be inferred.
macro_rules! is_not {
    ($type:ty: $($bound:tt)+) => {{
        trait Absent<Marker> {
            const IS: bool = true;
        }
        struct Present;
        impl<T: ?Sized> Absent<()> for T {}
        impl<T: ?Sized + $($bound)+> Absent<Present> for T {}
        <$type as Absent<_>>::IS
    }};
}

#[test]
fn a_payment_cannot_be_copied_written_read_or_made_from_nothing() {
    assert!(is_not!(Paid: Clone));
    assert!(is_not!(Paid: Copy));
    assert!(is_not!(Paid: Default));
    assert!(is_not!(Paid: serde::Serialize));
    assert!(is_not!(Paid: serde::de::DeserializeOwned));
}

#[test]
fn a_meter_is_rebuilt_and_never_read() {
    assert!(is_not!(Meter: serde::de::DeserializeOwned));
    assert!(is_not!(Meter: Default));
}
