//! What learning costs: time on the clock and on the processors, without reading and evaluating.

use crate::trainer::Trainer;
use std::time::{Duration, Instant};

/// Time spent learning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// On the clock.
    pub wall: Duration,
    /// On all processors; on the clock where the system does not tell.
    pub cpu: Duration,
}

impl Cost {
    /// Lets `trainer` do some work and adds what it cost.
    pub fn of<R>(&mut self, trainer: &mut Trainer, work: impl FnOnce(&mut Trainer) -> R) -> R {
        let (cpu, started) = (processor_time(trainer), Instant::now());
        let result = work(trainer);
        let wall = started.elapsed();
        self.wall += wall;
        self.cpu += match (cpu, processor_time(trainer)) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => wall,
        };
        result
    }
}

/// Processor time of this thread and of the trainer's, since they began. Reading has a thread of its own.
#[cfg(target_os = "linux")]
fn processor_time(trainer: &Trainer) -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    use std::sync::atomic::{AtomicU64, Ordering};
    let nanoseconds = AtomicU64::new(0);
    let add = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        let time = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
        nanoseconds.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    };
    add();
    trainer.on_every_thread(&add);
    Some(Duration::from_nanos(nanoseconds.into_inner()))
}

#[cfg(not(target_os = "linux"))]
fn processor_time(_trainer: &Trainer) -> Option<Duration> {
    None
}
