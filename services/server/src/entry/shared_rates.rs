//! The rates of callers over all processes, counted in Redis. It is asked once for each request, by one script; where it does not
//! answer, each process counts for itself and goes on.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisResult, Script};
use tokio::time::timeout;

/// Longest wait for an answer: a request is served without it rather than late.
const PATIENCE: Duration = Duration::from_millis(50);
/// For how long it is left alone after it has not answered.
const PAUSE: Duration = Duration::from_secs(1);
/// Between two warnings.
const WARNS_EVERY: Duration = Duration::from_secs(60);

/// The generic cell rate algorithm for each key in turn, up to the first that has sent too many. Of each it keeps until when what was
/// sent is paid off, in microseconds of Redis' own clock, and forgets it then. Answers with the place of the one that has sent too
/// many or 0, the microseconds that it has to wait, and what each has left.
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

/// A caller's key, and how many requests a second it may send.
pub(super) struct Counted {
    pub(super) key: String,
    pub(super) rate: u32,
}

/// What all processes together have counted.
pub(super) struct Told {
    /// Which one has sent too many, and how long it has to wait.
    pub(super) refused: Option<(usize, Duration)>,
    /// What each has left, up to the one that has sent too many.
    pub(super) left: Vec<u32>,
}

/// Redis, as all threads of the process know it.
#[derive(Clone)]
pub struct Redis {
    client: Client,
    warned: Arc<Mutex<Option<Instant>>>,
}

impl Redis {
    /// Where it is; nothing is sent yet.
    ///
    /// # Errors
    /// For what is no URL of Redis.
    pub fn at(url: &str) -> Result<Self> {
        let named = || "KNOWHOW_REDIS_URL must be redis://[user:password@]host[:port][/database]";
        anyhow::ensure!(url.starts_with("redis://"), named());
        // What the library says of it may hold the password.
        let client = Client::open(url).map_err(|_| anyhow::anyhow!(named())).context("Redis cannot be used")?;
        Ok(Self { client, warned: Arc::default() })
    }

    /// At most once a minute.
    fn warn(&self, error: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|at| at.elapsed() >= WARNS_EVERY) {
            *warned = Some(Instant::now());
            tracing::warn!(error, "Redis does not count requests: each process counts its own");
        }
    }
}

/// One thread's connection to Redis.
pub struct SharedRates {
    redis: Redis,
    script: Script,
    connection: RefCell<Option<MultiplexedConnection>>,
    paused_at: Cell<Option<Instant>>,
}

impl SharedRates {
    /// Connects with the first request.
    pub fn new(redis: Redis) -> Self {
        Self { redis, script: Script::new(COUNT), connection: RefCell::default(), paused_at: Cell::default() }
    }

    /// Counts a request for each of these; `None` where Redis does not answer.
    pub(super) async fn count(&self, counted: &[Counted], burst: u32) -> Option<Told> {
        if counted.is_empty() || self.paused_at.get().is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        let answer = match timeout(PATIENCE, self.ask(counted, burst)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return self.pause(error.category()),
            Err(_) => return self.pause("no answer in time"),
        };
        let mut numbers = answer.into_iter();
        let (place, wait) = (numbers.next()?, numbers.next()?);
        let refused = usize::try_from(place).ok()?.checked_sub(1);
        Some(Told {
            refused: refused.map(|at| (at, Duration::from_micros(wait))),
            left: numbers.map(|left| u32::try_from(left).unwrap_or(u32::MAX)).collect(),
        })
    }

    async fn ask(&self, counted: &[Counted], burst: u32) -> RedisResult<Vec<u64>> {
        let kept = self.connection.borrow().clone();
        let mut connection = match kept {
            Some(connection) => connection,
            None => {
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(PATIENCE))
                    .set_response_timeout(Some(PATIENCE));
                let connection = self.redis.client.get_multiplexed_async_connection_with_config(&config).await?;
                self.connection.replace(Some(connection.clone()));
                connection
            }
        };
        let mut asking = self.script.prepare_invoke();
        asking.arg(burst);
        for Counted { key, rate } in counted {
            asking.key(key).arg(rate);
        }
        asking.invoke_async(&mut connection).await
    }

    fn pause<T>(&self, error: &str) -> Option<T> {
        self.connection.take();
        self.paused_at.set(Some(Instant::now()));
        self.redis.warn(error);
        None
    }
}
