//! What a run costs: processor time of the threads that train, wall time, and memory.

use gibbstream::corpus::Minibatch;
use gibbstream::dense::DenseTrainer;
use gibbstream::schedule::Step;
use gibbstream::trainer::Trainer;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time spent training, without reading and evaluating.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// On the clock.
    pub wall: Duration,
    /// On all processors.
    pub cpu: Duration,
}

impl Cost {
    /// Trains on one minibatch and adds what it cost.
    pub fn of_training(&mut self, trainer: &mut Trainer, batch: &Minibatch) -> gibbstream::Result<Step> {
        self.of(trainer, |trainer| trainer.partial_fit(batch))
    }

    /// Lets `trainer` do some work and adds what it cost.
    pub fn of<T: Threads, R>(&mut self, trainer: &mut T, work: impl FnOnce(&mut T) -> R) -> R {
        let (cpu, started) = (training_cpu(trainer), Instant::now());
        let result = work(trainer);
        self.wall += started.elapsed();
        self.cpu += training_cpu(trainer).saturating_sub(cpu);
        result
    }
}

/// Something that works on threads of its own.
pub trait Threads {
    /// Runs `work` once on each of them.
    fn on_every_thread(&self, work: &(dyn Fn() + Sync));
}

impl Threads for Trainer {
    fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        Self::on_every_thread(self, work);
    }
}

impl Threads for DenseTrainer {
    fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        Self::on_every_thread(self, work);
    }
}

/// Processor time of this thread and of the trainer's, since they began. Reading has a thread of its own.
fn training_cpu(trainer: &impl Threads) -> Duration {
    let nanoseconds = AtomicU64::new(0);
    let add = || {
        nanoseconds.fetch_add(thread_cpu().as_nanos() as u64, Ordering::Relaxed);
    };
    add();
    trainer.on_every_thread(&add);
    Duration::from_nanos(nanoseconds.into_inner())
}

/// Processor time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The most memory that the program has had at once, in MiB, where the system tells.
pub fn peak_rss_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// The memory of this machine in bytes, where the system tells.
pub fn total_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
