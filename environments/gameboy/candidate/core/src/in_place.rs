//! Cloning into memory that is there already: a console that is set back many times a second allocates nothing.

/// Implements `Clone` for a struct, by its fields, with a `clone_from` that keeps what they own.
macro_rules! clone_in_place {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone()),+ }
            }

            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)+
            }
        }
    };
}

pub(crate) use clone_in_place;
