//! The rates of callers over all processes, counted in Redis. It is asked once for each request, by one script; where it does not
//! answer, each process counts for itself and goes on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, RedisResult, Script};
use tokio::time::timeout;

/// Longest wait for an answer: a request is served without it rather than late.
const PATIENCE: Duration = Duration::from_millis(50);
/// Longest wait for a connection, which no request waits for.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);
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
    /// Where it is; nothing is sent yet. With `rediss` its certificate is checked against the machine's roots.
    ///
    /// # Errors
    /// For what is no URL of Redis.
    pub fn at(url: &str) -> Result<Self> {
        let named = || "KNOWHOW_REDIS_URL must be redis://[user:password@]host[:port][/database], or rediss:// for TLS";
        anyhow::ensure!(url.starts_with("redis://") || url.starts_with("rediss://"), named());
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
struct Link {
    redis: Redis,
    connection: RefCell<Option<MultiplexedConnection>>,
    is_connecting: Cell<bool>,
    paused_at: Cell<Option<Instant>>,
}

impl Link {
    /// The connection, where there is one. Else one is made beside the requests: to look a name up and to agree on TLS takes longer
    /// than any of them waits.
    fn get(self: &Rc<Self>) -> Option<MultiplexedConnection> {
        let kept = self.connection.borrow().clone();
        if kept.is_none() && !self.is_connecting.replace(true) {
            let link = self.clone();
            actix_web::rt::spawn(async move {
                match link.connect().await {
                    Ok(connection) => drop(link.connection.replace(Some(connection))),
                    Err(error) => link.pause(&said(&error)),
                }
                link.is_connecting.set(false);
            });
        }
        kept
    }

    /// Reads the machine's roots each time where TLS is spoken, as the library keeps none; hence at most once a second.
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

/// What is wrong, without what was asked: why a connection or its TLS failed, or the kind of an error of Redis.
fn said(error: &RedisError) -> String {
    if error.is_io_error() { error.to_string() } else { format!("{:?}", error.kind()) }
}

/// The counts that all processes share, as one thread asks for them.
pub struct SharedRates {
    script: Script,
    link: Rc<Link>,
}

impl SharedRates {
    /// Connects with the first request.
    pub fn new(redis: Redis) -> Self {
        let link =
            Link { redis, connection: RefCell::default(), is_connecting: Cell::default(), paused_at: Cell::default() };
        Self { script: Script::new(COUNT), link: Rc::new(link) }
    }

    /// Counts a request for each of these; `None` where Redis is not reached, or does not answer.
    pub(super) async fn count(&self, counted: &[Counted], burst: u32) -> Option<Told> {
        if counted.is_empty() || self.link.paused_at.get().is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        let connection = self.link.get()?;
        let answer = match timeout(PATIENCE, self.ask(connection, counted, burst)).await {
            Ok(answer) => answer.map_err(|error| said(&error)),
            Err(_) => Err("no answer in time".to_owned()),
        };
        let answer = answer.inspect_err(|error| self.link.pause(error)).ok()?;
        let mut numbers = answer.into_iter();
        let (place, wait) = (numbers.next()?, numbers.next()?);
        let refused = usize::try_from(place).ok()?.checked_sub(1);
        Some(Told {
            refused: refused.map(|at| (at, Duration::from_micros(wait))),
            left: numbers.map(|left| u32::try_from(left).unwrap_or(u32::MAX)).collect(),
        })
    }

    async fn ask(
        &self,
        mut connection: MultiplexedConnection,
        counted: &[Counted],
        burst: u32,
    ) -> RedisResult<Vec<u64>> {
        let mut asking = self.script.prepare_invoke();
        asking.arg(burst);
        for Counted { key, rate } in counted {
            asking.key(key).arg(rate);
        }
        asking.invoke_async(&mut connection).await
    }
}
