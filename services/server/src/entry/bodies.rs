//! Limits the memory for request bodies while they are received, in total and per caller. A slow upload occupies memory
//! for a long time. If a caller has too many large bodies in progress, only this caller is rejected.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Data;
use knowhow_domain::{Error, Result};

use super::SharedState;

/// Number of bytes in each body that are not counted, so that small requests are not rejected because of large ones.
const FREE_BYTES: usize = 16 * 1024;
/// Number of callers that can use their full share of the memory at once. The share of one caller is the total
/// divided by this number.
const CALLERS: usize = 3;
/// `Retry-After`, in seconds, for a caller with too many bodies in progress.
const RETRY_S: u32 = 5;

/// Hash of a credential. The key of the hash is random, so that callers cannot construct collisions.
type Sender = u64;

/// The memory limit, and the memory that each sender uses.
pub struct Bodies {
    most: usize,
    in_use: Mutex<BytesInUse>,
    hasher: RandomState,
}

#[derive(Default)]
struct BytesInUse {
    by_all: usize,
    by_sender: HashMap<Sender, usize>,
}

impl Bodies {
    /// Creates a limit of `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { most, in_use: Mutex::default(), hasher: RandomState::new() }
    }

    fn sender(&self, request: &HttpRequest) -> Sender {
        let credential = request.headers().get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
        let user = request.headers().get("knowhow-user").map(header::HeaderValue::as_bytes);
        // People in the console send a cookie instead.
        let cookie = request.headers().get(header::COOKIE).map(header::HeaderValue::as_bytes);
        self.hasher.hash_one((credential, user, cookie))
    }

    fn in_use(&self) -> MutexGuard<'_, BytesInUse> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, sender: Sender, bytes: usize) -> Result<()> {
        let share = self.most / CALLERS;
        let mut in_use = self.in_use();
        if in_use.by_all + bytes > self.most {
            let detail = "too many request bodies are being received; try again in a moment";
            return Err(Error::Unavailable(detail.into()));
        }
        let own = in_use.by_sender.get(&sender).copied().unwrap_or_default();
        if own + bytes > share {
            let detail = "this caller has too many request bodies in progress; send fewer large ones in parallel";
            return Err(Error::RateLimited { detail: detail.into(), retry_after: RETRY_S });
        }
        in_use.by_sender.insert(sender, own + bytes);
        in_use.by_all += bytes;
        Ok(())
    }

    fn release(&self, sender: Sender, bytes: usize) {
        let mut in_use = self.in_use();
        in_use.by_all -= bytes;
        let left = in_use.by_sender.get(&sender).map_or(0, |own| own - bytes);
        if left == 0 {
            in_use.by_sender.remove(&sender);
        } else {
            in_use.by_sender.insert(sender, left);
        }
    }
}

/// The memory reserved for one request body. It is released when the request is over.
pub struct Lease {
    shared: Option<Data<SharedState>>,
    sender: Sender,
    free: usize,
    bytes: usize,
}

impl Lease {
    /// Creates a lease for a request's body, with no memory reserved yet.
    pub fn of(request: &HttpRequest) -> Self {
        let shared = request.app_data::<Data<SharedState>>().cloned();
        let sender = shared.as_ref().map_or(0, |shared| shared.bodies.sender(request));
        Self { shared, sender, free: FREE_BYTES, bytes: 0 }
    }

    /// Reserves memory for the next bytes of the body.
    ///
    /// # Errors
    /// `RateLimited` if the caller uses more than its share. `Unavailable` if all callers together use too much.
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        let counted = bytes.saturating_sub(self.free);
        self.free = self.free.saturating_sub(bytes);
        if let Some(shared) = self.shared.as_ref().filter(|_| counted > 0) {
            shared.bodies.take(self.sender, counted)?;
            self.bytes += counted;
        }
        Ok(())
    }

    /// Keeps the memory reserved until the request is answered.
    pub fn keep(self, request: &HttpRequest) {
        use actix_web::HttpMessage;
        request.extensions_mut().insert(Arc::new(self));
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.as_ref().filter(|_| self.bytes > 0) {
            shared.bodies.release(self.sender, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests;
