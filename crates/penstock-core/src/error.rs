//! What can be wrong with bytes from a file, as values.

use std::borrow::Cow;

/// Why a piece of core work ended without its result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A compressed stream is damaged.
    #[error("{0}")]
    Stream(Cow<'static, str>),
    /// A compressed stream gives more bytes than its size allows.
    #[error("{0}")]
    Bomb(Cow<'static, str>),
    /// Bytes are not the protobuf message that they should be.
    #[error("{message}")]
    Message {
        /// What was found.
        message: Cow<'static, str>,
        /// Byte in the message where it was noticed.
        offset: usize,
    },
    /// An argument of the caller has a wrong value: nothing was done.
    #[error("{0}")]
    Argument(Cow<'static, str>),
    /// A row or range that does not exist.
    #[error("{0}")]
    Range(Cow<'static, str>),
}

/// Result of core work.
pub type Result<T> = std::result::Result<T, Error>;
