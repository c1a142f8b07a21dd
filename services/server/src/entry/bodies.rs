//! Memory for the bodies of requests that are under way. A body that stays half sent holds what has come of it, so all of
//! them together are bounded, and each caller's: a caller that sends many large bodies at once waits, and no other does.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Data;
use knowhow_domain::{Error, Result};

use super::Shared;

/// The beginning of a body, which is not counted: everyday requests are smaller, and must not wait for large ones.
const FREE_BYTES: usize = 16 * 1024;
/// How many callers there must be to take all of the memory.
const CALLERS: usize = 3;
/// Seconds after which a caller who had too many bodies under way tries again.
const RETRY_S: u32 = 5;

/// Who sends: the credential, by a hash that nobody can foresee.
type Sender = u64;

/// The memory, and who holds how much of it.
pub struct Bodies {
    most: usize,
    held: Mutex<Held>,
    hasher: RandomState,
}

#[derive(Default)]
struct Held {
    by_all: usize,
    by_sender: HashMap<Sender, usize>,
}

impl Bodies {
    /// Memory of so many bytes.
    pub fn new(most: usize) -> Self {
        Self { most, held: Mutex::default(), hasher: RandomState::new() }
    }

    fn sender(&self, request: &HttpRequest) -> Sender {
        let credential = request.headers().get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
        let user = request.headers().get("knowhow-user").map(header::HeaderValue::as_bytes);
        self.hasher.hash_one((credential, user))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, sender: Sender, bytes: usize) -> Result<()> {
        let share = self.most / CALLERS;
        let mut held = self.held();
        if held.by_all + bytes > self.most {
            let detail = "too many request bodies are under way; try again in a moment";
            return Err(Error::Unavailable(detail.into()));
        }
        let own = held.by_sender.get(&sender).copied().unwrap_or_default();
        if own + bytes > share {
            let detail = "too many request bodies of this caller are under way; send fewer large ones at once";
            return Err(Error::RateLimited { detail: detail.into(), retry_after: RETRY_S });
        }
        held.by_sender.insert(sender, own + bytes);
        held.by_all += bytes;
        Ok(())
    }

    fn give_back(&self, sender: Sender, bytes: usize) {
        let mut held = self.held();
        held.by_all -= bytes;
        let left = held.by_sender.get(&sender).map_or(0, |own| own - bytes);
        if left == 0 {
            held.by_sender.remove(&sender);
        } else {
            held.by_sender.insert(sender, left);
        }
    }
}

/// What one body holds, given back when the request is over.
pub struct Lease {
    shared: Option<Data<Shared>>,
    sender: Sender,
    free: usize,
    bytes: usize,
}

impl Lease {
    /// A reader that has read nothing of the body yet.
    pub fn of(request: &HttpRequest) -> Self {
        let shared = request.app_data::<Data<Shared>>().cloned();
        let sender = shared.as_ref().map_or(0, |shared| shared.bodies.sender(request));
        Self { shared, sender, free: FREE_BYTES, bytes: 0 }
    }

    /// Room for the next bytes.
    ///
    /// # Errors
    /// `RateLimited` where the caller has too much under way, `Unavailable` where all together have.
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        let counted = bytes.saturating_sub(self.free);
        self.free = self.free.saturating_sub(bytes);
        if let Some(shared) = self.shared.as_ref().filter(|_| counted > 0) {
            shared.bodies.take(self.sender, counted)?;
            self.bytes += counted;
        }
        Ok(())
    }

    /// Holds it until the request is answered.
    pub fn keep(self, request: &HttpRequest) {
        use actix_web::HttpMessage;
        request.extensions_mut().insert(Arc::new(self));
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.as_ref().filter(|_| self.bytes > 0) {
            shared.bodies.give_back(self.sender, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests;
