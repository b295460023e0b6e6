//! Files: what is kept on disk, and what older releases have left there.

pub(crate) mod version_1;
