//! Ctrl-C, SIGTERM and SIGHUP: end at once, or after the current piece of work for commands that have something to save.

use gibbstream::learn::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The same number on every system that has this signal. Windows has not, and there it is never registered.
const SIGHUP: i32 = 1;

/// A request to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// The terminal is gone.
    HangUp,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    /// 128 and the number of the signal, as shells do it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::HangUp => 129,
        }
    }

    fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
            Self::HangUp => SIGHUP,
        }
    }
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "Ctrl-C",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
        })
    }
}

/// Whether the user wants to end.
pub struct Interrupt {
    /// The number of the signal that came, or 0.
    received: Arc<AtomicUsize>,
    /// Whether the next signal ends the program where it stands.
    at_once: Arc<AtomicBool>,
    /// For work that cannot be asked to end between its steps.
    stop: Stop,
}

impl Interrupt {
    /// From now on signals end the program with the promised exit codes.
    pub fn install() -> anyhow::Result<Self> {
        let interrupt = Self {
            received: Arc::default(),
            at_once: Arc::new(AtomicBool::new(true)),
            stop: Stop::default(),
        };
        for signal in Signal::ALL {
            // Whoever started the program may have asked for it to outlive the terminal (nohup).
            if signal == Signal::HangUp && (cfg!(not(unix)) || is_ignored()) {
                continue;
            }
            // In this order: the first signal that is not deadly makes the next one so.
            let number = signal.number();
            flag::register_conditional_shutdown(
                number,
                i32::from(signal.exit_code()),
                interrupt.at_once.clone(),
            )?;
            flag::register(number, interrupt.at_once.clone())?;
            flag::register_usize(number, interrupt.received.clone(), number as usize)?;
            flag::register(number, interrupt.stop.requested())?;
        }
        Ok(interrupt)
    }

    /// From now on the first signal is only noted; the caller asks for it with [`Interrupt::received`].
    pub fn defer(&self) {
        self.at_once.store(false, Ordering::SeqCst);
    }

    /// The opposite: from now on a signal ends the program where it stands.
    pub fn end_at_once(&self) {
        self.at_once.store(true, Ordering::SeqCst);
    }

    /// For a run that is in the middle of a long minibatch when a signal comes.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// The signal that came, if any.
    pub fn received(&self) -> Option<Signal> {
        let number = self.received.load(Ordering::SeqCst) as i32;
        Signal::ALL.into_iter().find(|signal| signal.number() == number)
    }
}

/// Whether SIGHUP was ignored when the program was started; only Linux tells.
fn is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
