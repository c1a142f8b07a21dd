//! Rate limits across all processes. One Redis script per request counts them. While Redis does not respond, each
//! process counts only its own requests.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, RedisResult, Script};
use tokio::time::timeout;

/// Maximum wait for Redis. After that the request is served without being counted, because serving it late would be
/// worse.
const PATIENCE: Duration = Duration::from_millis(50);
/// Maximum time for connecting to Redis. Requests do not wait for the connection.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);
/// Pause after a failure. During the pause no requests are sent to Redis.
const PAUSE: Duration = Duration::from_secs(1);
/// Minimum interval between two warnings.
const WARNS_EVERY: Duration = Duration::from_secs(60);

/// Script that applies the generic cell rate algorithm to each key in turn, and stops at the first key above its limit.
/// For each key, Redis stores the time at which all its requests are paid off, in microseconds of its own clock. At
/// that time the key expires. The script returns the position of the rejected key or 0, the microseconds to wait, and
/// the number of remaining requests for each key.
const COUNT: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = 1000000 * ARGV[1]
local answer = {0, 0}
for place, key in ipairs(KEYS) do
    local step = 1000000 / ARGV[place + 1]
    local paid = math.max(tonumber(redis.call('GET', key) or 0), now) + step
    if paid - now > full then
        answer[1] = place
        answer[2] = math.ceil(paid - now - full)
        answer[place + 2] = 0
        return answer
    end
    redis.call('SET', key, string.format('%.0f', paid), 'PX', math.ceil((paid - now) / 1000))
    answer[place + 2] = math.floor((full - (paid - now)) / step)
end
return answer
";

/// The Redis key of a limit, and the limit in requests per second.
pub(super) struct RedisLimit {
    pub(super) key: String,
    pub(super) rate: u32,
}

/// The result of the script.
pub(super) struct RateDecision {
    /// Index of the limit that rejects the request, and the time to wait; `None` if the request is allowed.
    pub(super) refused: Option<(usize, Duration)>,
    /// Number of remaining requests for each limit, up to the limit that rejects the request.
    pub(super) left: Vec<u32>,
}

/// Client for Redis, shared by all threads.
#[derive(Clone)]
pub struct Redis {
    client: Client,
    warned: Arc<Mutex<Option<Instant>>>,
}

impl Redis {
    /// Parses the URL without connecting. With `rediss`, certificates are verified against the system's roots.
    ///
    /// # Errors
    /// Fails if it is not a Redis URL.
    pub fn at(url: &str) -> Result<Self> {
        let named = || "KNOWHOW_REDIS_URL must be redis://[user:password@]host[:port][/database], or rediss:// for TLS";
        anyhow::ensure!(url.starts_with("redis://") || url.starts_with("rediss://"), named());
        // The library's error is not shown, because it may contain the password.
        let client = Client::open(url).map_err(|_| anyhow::anyhow!(named())).context("Redis cannot be used")?;
        Ok(Self { client, warned: Arc::default() })
    }

    /// Logs a warning, at most once a minute.
    fn warn(&self, error: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|at| at.elapsed() >= WARNS_EVERY) {
            *warned = Some(Instant::now());
            tracing::warn!(error, "Redis is not available for rate limits: each process counts its own requests");
        }
    }
}

/// The connection of one thread to Redis.
struct Link {
    redis: Redis,
    connection: RefCell<Option<MultiplexedConnection>>,
    is_connecting: Cell<bool>,
    paused_at: Cell<Option<Instant>>,
}

impl Link {
    /// Returns the connection. If there is no connection yet, returns `None` and starts to connect in the background:
    /// name lookup and TLS take longer than a request may wait.
    fn get(self: &Rc<Self>) -> Option<MultiplexedConnection> {
        let connection = self.connection.borrow().clone();
        if connection.is_none() && !self.is_connecting.replace(true) {
            let link = self.clone();
            actix_web::rt::spawn(async move {
                match link.connect().await {
                    Ok(connection) => drop(link.connection.replace(Some(connection))),
                    Err(error) => link.pause(&describe_error(&error)),
                }
                link.is_connecting.set(false);
            });
        }
        connection
    }

    /// Connects to Redis. With TLS, each call reads the system's roots, because the library does not cache them.
    /// Therefore it is called at most once a second.
    async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECTS_WITHIN))
            .set_response_timeout(Some(PATIENCE));
        self.redis.client.get_multiplexed_async_connection_with_config(&config).await
    }

    fn pause(&self, error: &str) {
        self.connection.take();
        self.paused_at.set(Some(Instant::now()));
        self.redis.warn(error);
    }
}

/// Describes an error without the request: the I/O error, or the kind of the Redis error.
fn describe_error(error: &RedisError) -> String {
    if error.is_io_error() { error.to_string() } else { format!("{:?}", error.kind()) }
}

/// The shared counters, as used by one thread.
pub struct SharedRates {
    script: Script,
    link: Rc<Link>,
}

impl SharedRates {
    /// Creates the counters. The connection is opened by the first request.
    pub fn new(redis: Redis) -> Self {
        let link =
            Link { redis, connection: RefCell::default(), is_connecting: Cell::default(), paused_at: Cell::default() };
        Self { script: Script::new(COUNT), link: Rc::new(link) }
    }

    /// Counts a request for each limit. Returns `None` if Redis cannot be reached or does not respond in time.
    pub(super) async fn count(&self, counted: &[RedisLimit], burst: u32) -> Option<RateDecision> {
        if counted.is_empty() || self.link.paused_at.get().is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        let connection = self.link.get()?;
        let answer = match timeout(PATIENCE, self.ask(connection, counted, burst)).await {
            Ok(answer) => answer.map_err(|error| describe_error(&error)),
            Err(_) => Err("no response in time".to_owned()),
        };
        let answer = answer.inspect_err(|error| self.link.pause(error)).ok()?;
        let mut numbers = answer.into_iter();
        let (place, wait) = (numbers.next()?, numbers.next()?);
        let refused = usize::try_from(place).ok()?.checked_sub(1);
        Some(RateDecision {
            refused: refused.map(|at| (at, Duration::from_micros(wait))),
            left: numbers.map(|left| u32::try_from(left).unwrap_or(u32::MAX)).collect(),
        })
    }

    async fn ask(
        &self,
        mut connection: MultiplexedConnection,
        counted: &[RedisLimit],
        burst: u32,
    ) -> RedisResult<Vec<u64>> {
        let mut asking = self.script.prepare_invoke();
        asking.arg(burst);
        for RedisLimit { key, rate } in counted {
            asking.key(key).arg(rate);
        }
        asking.invoke_async(&mut connection).await
    }
}
