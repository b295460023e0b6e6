//! Starting and ending a service.

use crate::fold::{Fold, Stopped};
use crate::http::{App, listen, router};
use crate::log::{self, LogFollower, LogHandle, WriterOptions};
use crate::metrics::Metrics;
use crate::priority::answer_at_once;
use crate::publish::{Publisher, Views};
use crate::security::{Sites, check_address};
use crate::setup::{Learning, Service, Source};
use crate::status::Status;
use crate::timeline::Timeline;
use crate::view::View;
use gibbstream::corpus::{Format, Inputs};
use gibbstream::{Error, Result};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// How often it looks whether it should end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Serves until `should_stop` says so; `ready` is told the address once documents can be taken.
pub fn serve(service: Service, ready: impl FnOnce(SocketAddr), should_stop: impl Fn() -> bool) -> Result<()> {
    check_address(service.listen, &service.tokens)?;
    raise_file_limit();
    let Service { source, listen: address, limits, fsync, retention, tokens, hosts, origins, threads, seed } =
        service;
    let (views, status) = (Views::default(), Arc::<Status>::default());
    let options = WriterOptions {
        fsync,
        retention,
        segment_bytes: limits.segment_bytes,
        remembered_requests: limits.remembered_requests,
        queue: limits.queue,
    };
    let (inputs, settings, learner) = match source {
        Source::ReadOnly(model) => {
            let (settings, inputs) = (model.settings.clone(), Inputs::default());
            status.update(|progress| {
                (progress.documents, progress.updates) = (model.clock().seen, model.clock().update);
                (progress.tokens, progress.vocabulary) = (model.tokens(), model.features.len() as u64);
            });
            views.set(View::new(gibbstream::learn::Snapshot::new(*model), Timeline::default())?);
            (inputs, settings, None)
        }
        Source::Learning(learning, data) => {
            let (inputs, settings) = (learning.inputs.clone(), learning.settings.clone());
            let learner = Learner::start(*learning, data, options, &views, &status)?;
            (inputs, settings, Some(learner))
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        Error::setting("threads", format!("cannot start {threads} threads: {error}"), "ask for fewer")
    })?;
    let (turns, in_line) = App::turns(threads);
    let app = Arc::new(App {
        views,
        status: status.clone(),
        log: learner.as_ref().map(|learner| learner.log.clone()),
        inputs: Inputs { format: Format::JsonLines, ..inputs },
        settings,
        limits,
        tokens,
        sites: Sites::new(&hosts, &origins),
        metrics: Metrics::default(),
        seed,
        pool,
        room: Arc::new(Semaphore::new(limits.buffered_bytes)),
        requests: Semaphore::new(limits.requests),
        turns,
        in_line,
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.clamp(2, 8))
        .thread_name("http")
        .on_thread_start(answer_at_once)
        .enable_all()
        .build()
        .map_err(|source| Error::io(Path::new("threads"), "start", source))?;
    let served = runtime.block_on(answer(address, app, ready, should_stop));
    // Requests that were too slow for the deadline are left where they are.
    runtime.shutdown_timeout(Duration::ZERO);
    let ended = learner.map_or(Ok(()), |learner| learner.end(served.as_ref().ok().copied()));
    served.map(drop).and(ended)
}

/// Answers until it should stop, and then until everything is answered or the time is up. Returns the end of that time.
async fn answer(
    address: SocketAddr,
    app: Arc<App>,
    ready: impl FnOnce(SocketAddr),
    should_stop: impl Fn() -> bool,
) -> Result<Instant> {
    let listener = TcpListener::bind(address).await;
    let failed = |source| Error::io(PathBuf::from(address.to_string()), "listen on", source);
    let listener = listener.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (stop, stopping) = watch::channel(false);
    let answering = tokio::spawn(listen(listener, router(app.clone()), app.clone(), stopping));
    ready(address);
    while !should_stop() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    tracing::info!("stopping");
    app.status.stop();
    let _ = stop.send(true);
    let deadline = Instant::now() + app.limits.stop_timeout;
    if tokio::time::timeout(app.limits.stop_timeout, answering).await.is_err() {
        tracing::warn!("some requests were not answered within the deadline");
    }
    Ok(deadline)
}

/// The log and the thread that learns from it.
struct Learner {
    log: Arc<LogHandle>,
    thread: JoinHandle<()>,
    ended: Receiver<Result<Stopped>>,
    data: PathBuf,
}

impl Learner {
    fn start(
        learning: Learning,
        data: PathBuf,
        options: WriterOptions,
        views: &Views,
        status: &Arc<Status>,
    ) -> Result<Self> {
        let log = Arc::new(log::open(&data.join("log"), options)?);
        let follower: LogFollower = log.follower();
        let publisher = Publisher::start(views.clone(), status.clone(), follower)?;
        let (begun, begins) = sync_channel(1);
        let (tell, ended) = sync_channel(1);
        let (thread_log, thread_status, thread_data) = (log.clone(), status.clone(), data.clone());
        let work = move || {
            let fold = Fold::new(learning, &thread_data, thread_log, thread_status.clone(), publisher);
            let fold = match fold {
                Ok(fold) => fold,
                Err(error) => return drop(begun.send(Err(error))),
            };
            let _ = begun.send(Ok(()));
            let result = fold.run();
            if let Err(error) = &result {
                thread_status.fail(&error.to_string());
            }
            let _ = tell.send(result);
        };
        let thread = std::thread::Builder::new()
            .name("learning".into())
            .spawn(work)
            .map_err(|source| Error::io(&data, "start a thread for", source))?;
        let panicked = || Error::setting("learning", "it ended without a word", "please report this");
        begins.recv().map_err(|_| panicked())??;
        Ok(Self { log, thread, ended, data })
    }

    /// Ends learning and the log. What has not been learnt from by the deadline is learnt from when the service starts again.
    fn end(self, deadline: Option<Instant>) -> Result<()> {
        let deadline = deadline.unwrap_or_else(Instant::now);
        self.log.close();
        let patience = deadline.saturating_duration_since(Instant::now()) + Duration::from_millis(100);
        match self.ended.recv_timeout(patience) {
            Ok(Ok(stopped)) => {
                let _ = self.thread.join();
                finish(stopped, &self.data)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => {
                tracing::warn!(
                    "the minibatch was not over within the deadline; its documents are learnt from at the next start"
                );
                Ok(())
            }
        }
    }
}

/// The model is left in the folder, for all other commands.
fn finish(mut stopped: Stopped, data: &Path) -> Result<()> {
    let file = data.join("model.gbs");
    if stopped.has_learnt {
        stopped.run.lend(|model| model.save(&file))?;
        tracing::info!(documents = stopped.documents, file = %file.display(), "stopped");
    } else {
        tracing::info!("stopped before anything was learnt");
    }
    Ok(())
}

/// Every connection is an open file.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(not(unix))]
fn raise_file_limit() {}
