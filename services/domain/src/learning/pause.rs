//! Yields the processor in long computations. Expensive work runs on low-priority threads. Linux preempts such a
//! thread only at its next tick, which may be 4 ms after a request needs the processor.

/// Number of loop steps between two yields. If a user has thousands of skills, 64 terms of a message take some tenths
/// of a millisecond. Ordinary messages have fewer terms.
const STEPS: usize = 64;

/// Yields to other threads. Callers use it between pieces of work of at least a tenth of a millisecond.
pub fn pause() {
    std::thread::yield_now();
}

/// Yields at every 64th `step` of a loop. Steps are counted from 0.
pub(crate) fn pause_at(step: usize) {
    if step % STEPS == STEPS - 1 {
        pause();
    }
}
