//! Ctrl-C and SIGTERM: end at once, or after the current piece of work for commands that have something to save.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A request to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Signal {
    /// 128 and the number of the signal, as shells do it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }

    fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
        }
    }
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "Ctrl-C",
            Self::Terminate => "SIGTERM",
        })
    }
}

/// Whether the user wants to end.
pub struct Interrupt {
    /// The number of the signal that came, or 0.
    received: Arc<AtomicUsize>,
    /// Whether the next signal ends the program where it stands.
    at_once: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on signals end the program with the promised exit codes.
    pub fn install() -> anyhow::Result<Self> {
        let interrupt = Self { received: Arc::default(), at_once: Arc::new(AtomicBool::new(true)) };
        for signal in [Signal::Interrupt, Signal::Terminate] {
            // In this order: the first signal that is not deadly makes the next one so.
            let number = signal.number();
            flag::register_conditional_shutdown(
                number,
                i32::from(signal.exit_code()),
                interrupt.at_once.clone(),
            )?;
            flag::register(number, interrupt.at_once.clone())?;
            flag::register_usize(number, interrupt.received.clone(), number as usize)?;
        }
        Ok(interrupt)
    }

    /// From now on the first signal is only noted; the caller asks for it with [`Interrupt::received`].
    pub fn defer(&self) {
        self.at_once.store(false, Ordering::SeqCst);
    }

    /// The signal that came, if any.
    pub fn received(&self) -> Option<Signal> {
        let number = self.received.load(Ordering::SeqCst) as i32;
        [Signal::Interrupt, Signal::Terminate].into_iter().find(|signal| signal.number() == number)
    }
}
