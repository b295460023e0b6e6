//! What learning costs: time on the clock and on the processors, without reading and evaluating.

use crate::learn::trainer::Trainer;
use std::time::{Duration, Instant};

/// Time spent learning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// On the clock.
    pub wall: Duration,
    /// On all processors.
    pub cpu: Duration,
}

impl Cost {
    /// Lets `trainer` do some work and adds what it cost.
    pub fn of<R>(&mut self, trainer: &mut Trainer, work: impl FnOnce(&mut Trainer) -> R) -> R {
        let (cpu, started) = (processor_time(trainer), Instant::now());
        let result = work(trainer);
        self.wall += started.elapsed();
        self.cpu += processor_time(trainer).saturating_sub(cpu);
        result
    }
}

/// Processor time of this thread and of the trainer's, since they began. Reading has a thread of its own.
#[cfg(target_os = "linux")]
fn processor_time(trainer: &Trainer) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    use std::sync::atomic::{AtomicU64, Ordering};
    let nanoseconds = AtomicU64::new(0);
    let add = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        nanoseconds.fetch_add(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64, Ordering::Relaxed);
    };
    add();
    trainer.on_every_thread(&add);
    Duration::from_nanos(nanoseconds.into_inner())
}

/// Elsewhere nobody tells, and time on the clock has to do.
#[cfg(not(target_os = "linux"))]
fn processor_time(_trainer: &Trainer) -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
