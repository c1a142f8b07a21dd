//! Long computations let other threads go first. Dear work runs on threads of low priority, but Linux takes the processor from
//! such a thread at its next tick alone, up to 4 ms after a request has come that wants it.

/// Steps between two pauses: terms of a message in a library of thousands take some tenths of a millisecond, and an everyday
/// message has fewer.
const STEPS: usize = 64;

/// Lets other threads go first: between pieces of work of a tenth of a millisecond or more.
pub fn pause() {
    std::thread::yield_now();
}

/// The same at some of the `step`s of a loop, from 0.
pub(crate) fn pause_at(step: usize) {
    if step % STEPS == STEPS - 1 {
        pause();
    }
}
