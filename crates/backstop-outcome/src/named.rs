//! Enums whose variants are names on the wire and nothing else. No rule lives here.

/// Declares a fieldless enum with `ALL`, `name`, `Display`, `FromStr` and serde, all by the same names.
macro_rules! named {
    (
        $(#[$doc:meta])* $name:ident, $what:literal,
        $(#[$first_doc:meta])* $first:ident = $first_name:literal
        $(, $(#[$variant_doc:meta])* $variant:ident = $variant_name:literal)* $(,)?
    ) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $(#[$first_doc])* $first,
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Self] = &[Self::$first $(, Self::$variant)*];

            /// The name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    Self::$first => $first_name,
                    $(Self::$variant => $variant_name,)*
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl core::str::FromStr for $name {
            type Err = backstop_vocab::NameError;
            fn from_str(text: &str) -> Result<Self, backstop_vocab::NameError> {
                let wanted = text.trim();
                let named = Self::ALL.iter().find(|one| one.name().eq_ignore_ascii_case(wanted));
                named.copied().ok_or_else(|| {
                    let accepted = concat!($first_name $(, ", ", $variant_name)*);
                    backstop_vocab::NameError::new($what, text, accepted)
                })
            }
        }
    };
}

pub(crate) use named;
