//! How many requests a second each user, API key and tenant may send. Asked once the credential is verified, and before the
//! database is asked for anything: what is refused costs next to nothing, and others do not feel it.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use knowhow_domain::{Error, Result, TenantId};
use knowhow_store::Bearer;
use moka::policy::EvictionPolicy;

use super::client;
use super::standing::Standing;

/// How many seconds' worth of requests may come at once.
const BURST: u32 = 3;
/// Callers whose requests are counted. The one that was silent for longest is forgotten for another one.
const CALLERS: u64 = 100_000;
/// A caller that is silent for so long has all its requests again, so nothing is lost by forgetting it.
const KNOWN_FOR: Duration = Duration::from_secs(4 * BURST as u64);

/// What the deployment gives those whose tenant says nothing else, requests a second; 0 for any number.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// All of a tenant together.
    pub tenant: u32,
    pub user: u32,
    pub key: u32,
    /// An address, without a credential.
    pub address: u32,
}

/// Whose requests are counted together.
#[derive(Hash)]
enum Who<'a> {
    User(TenantId, &'a str),
    Operator(&'a str),
    Key(uuid::Uuid),
    Tenant(TenantId),
    Address(IpAddr),
}

impl Who<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::User(..) => "user",
            Self::Operator(_) => "operator",
            Self::Key(_) => "API key",
            Self::Tenant(_) => "tenant",
            Self::Address(_) => "address",
        }
    }
}

/// The requests of all callers, as far as they were counted lately.
pub struct Rates {
    defaults: Defaults,
    counted: moka::sync::Cache<u64, Arc<Counted>>,
    hasher: RandomState,
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, MonotonicClock, StateInformationMiddleware>;

struct Counted {
    rate: NonZeroU32,
    limiter: Limiter,
}

impl Counted {
    fn new(rate: NonZeroU32) -> Arc<Self> {
        let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(BURST_OF_ONE));
        let limiter = RateLimiter::direct_with_clock(quota, MonotonicClock).with_middleware();
        Arc::new(Self { rate, limiter })
    }
}

const BURST_OF_ONE: NonZeroU32 = NonZeroU32::MIN.saturating_add(BURST - 1);

impl Rates {
    /// Nobody has sent anything yet.
    pub fn new(defaults: Defaults) -> Self {
        let counted = moka::sync::Cache::builder()
            .max_capacity(CALLERS)
            .time_to_idle(KNOWN_FOR)
            // Any other policy would keep those who come often and never count a newcomer.
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self { defaults, counted, hasher: RandomState::new() }
    }

    /// Counts a request whose credential is good: for its user first, so that one who sends too many takes nothing of what the
    /// others of the tenant may send.
    ///
    /// # Errors
    /// `RateLimited`.
    pub(super) fn count(&self, request: &HttpRequest, caller: &Bearer) -> Result<()> {
        let (settings, defaults) = (caller.settings(), &self.defaults);
        let mut standing = Standing::new(request);
        if caller.is_operator() {
            return self.take(&mut standing, &Who::Operator(&caller.actor()), defaults.user);
        }
        if let Some(user) = caller.external_id() {
            let rate = settings.user_requests_per_second.unwrap_or(defaults.user);
            self.take(&mut standing, &Who::User(caller.tenant(), user), rate)?;
        }
        if let Some(key) = caller.key() {
            let rate = settings.key_requests_per_second.unwrap_or(defaults.key);
            self.take(&mut standing, &Who::Key(key.0), rate)?;
        }
        let rate = settings.requests_per_second.unwrap_or(defaults.tenant);
        self.take(&mut standing, &Who::Tenant(caller.tenant()), rate)
    }

    /// Counts a request without a credential.
    ///
    /// # Errors
    /// `RateLimited`.
    pub fn count_stranger(&self, request: &HttpRequest) -> Result<()> {
        let Some(address) = client::counted_address(request) else { return Ok(()) };
        self.take(&mut Standing::new(request), &Who::Address(address), self.defaults.address)
    }

    fn take(&self, standing: &mut Standing<'_>, who: &Who<'_>, rate: u32) -> Result<()> {
        let Some(rate) = NonZeroU32::new(rate) else { return Ok(()) };
        let counted = self.counted(self.hasher.hash_one(who), rate);
        match counted.limiter.check() {
            Ok(left) => {
                standing.note(rate.get(), BURST, left.remaining_burst_capacity());
                Ok(())
            }
            Err(until) => {
                standing.note(rate.get(), BURST, 0);
                let wait = until.wait_time_from(MonotonicClock.now());
                let detail = format!(
                    "the {} sends more than {rate} requests a second, or {} at once, the limit; wait, and send them more slowly",
                    who.name(),
                    rate.get() * BURST
                );
                Err(Error::RateLimited { detail, retry_after: whole_seconds(wait) })
            }
        }
    }

    /// The requests of one caller. Where its rate has changed, it begins anew.
    fn counted(&self, key: u64, rate: NonZeroU32) -> Arc<Counted> {
        let counted = self.counted.get_with(key, || Counted::new(rate));
        if counted.rate == rate {
            return counted;
        }
        let anew = Counted::new(rate);
        self.counted.insert(key, anew.clone());
        anew
    }
}

/// A time to wait as `Retry-After` says it.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX).max(1)
}
