//! Which documents are shown, and what of them.

mod chosen;
mod shown;
mod text;

pub(crate) use chosen::{Chosen, Showcase};
pub(crate) use shown::{Shown, documents};
pub use text::SourceText;
