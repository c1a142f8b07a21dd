//! Distributes work over all cores.

use std::panic::resume_unwind;
use std::thread;

/// Calls `work` for each item in parallel, and returns the results in the order of the items.
pub fn share<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = &work;
    thread::scope(|scope| {
        // Items are dealt to the cores in turn, because all large catalogues may be at one end of the list.
        let start = |core| scope.spawn(move || items.iter().skip(core).step_by(cores).map(work).collect::<Vec<R>>());
        let workers: Vec<_> = (0..cores).map(start).collect();
        // A failed worker fails the run; otherwise the figures would cover only a part of the messages.
        let made = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|cause| resume_unwind(cause)));
        let mut shares: Vec<_> = made.map(Vec::into_iter).collect();
        (0..items.len()).filter_map(|at| shares.get_mut(at % cores)?.next()).collect()
    })
}
