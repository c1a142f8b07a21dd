//! Rate limits per user, API key and tenant. They are checked after the credential and before any query to the
//! database, so that rejecting a request is cheap.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::web::Data;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, TenantId};
use knowhow_store::Bearer;
use moka::policy::EvictionPolicy;

use super::client;
use super::shared_rates::{self, SharedRates};
use crate::entry::rate_headers::RateHeaders;

/// Burst size: the number of seconds' worth of requests that may come at once.
const BURST: u32 = 3;
/// Maximum number of callers that have their requests counted. The least recently seen caller is evicted.
const MAX_CALLERS: u64 = 100_000;
/// Time without requests after which a caller is evicted. By then the caller's full burst is available again anyway.
const IDLE_TIME: Duration = Duration::from_secs(4 * BURST as u64);

/// Default limits in requests per second, for tenants without their own limits. 0 means unlimited.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// Limit for all users of a tenant together.
    pub tenant: u32,
    pub user: u32,
    pub key: u32,
    /// Limit for an address, for requests without a credential.
    pub address: u32,
}

/// A group of requests that are counted together.
#[derive(Hash)]
enum RateGroup<'a> {
    User(TenantId, &'a str),
    Operator(String),
    Key(uuid::Uuid),
    Tenant(TenantId),
    Address(IpAddr),
}

impl RateGroup<'_> {
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

/// The rate limit of one group.
struct Limit<'a> {
    group: RateGroup<'a>,
    rate: NonZeroU32,
}

impl<'a> Limit<'a> {
    /// Creates a limit. Returns `None` if the rate is 0, which means unlimited.
    fn of(group: RateGroup<'a>, rate: u32) -> Option<Self> {
        NonZeroU32::new(rate).map(|rate| Self { group, rate })
    }

    /// Returns the limit's key and rate for Redis. Names of users and operators are hashed. All keys of a tenant belong
    /// to one slot of a Redis cluster, so one script can use them.
    fn shared(&self, tenant: TenantId) -> shared_rates::RedisLimit {
        let digest = |text: &str| manifest::hex(&manifest::digest(text.as_bytes()));
        let group = match &self.group {
            RateGroup::User(_, user) => format!("user:{}", digest(user)),
            RateGroup::Operator(actor) => format!("operator:{}", digest(actor)),
            RateGroup::Key(key) => format!("key:{key}"),
            RateGroup::Tenant(_) => "all".to_owned(),
            RateGroup::Address(address) => format!("address:{}", digest(&address.to_string())),
        };
        shared_rates::RedisLimit { key: format!("knowhow:rate:{{{tenant}}}:{group}"), rate: self.rate.get() }
    }

    fn refuse(&self, wait: Duration) -> Error {
        let detail = format!(
            "the {} exceeds the limit of {} requests per second, or {} at once; wait, and send requests more slowly",
            self.group.name(),
            self.rate,
            self.rate.get() * BURST
        );
        Error::RateLimited { detail, retry_after: whole_seconds(wait) }
    }
}

/// Rate limiters for the recently seen callers.
pub struct Rates {
    defaults: Defaults,
    counted: moka::sync::Cache<u64, Arc<LimiterWithRate>>,
    hasher: RandomState,
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, MonotonicClock, StateInformationMiddleware>;

struct LimiterWithRate {
    rate: NonZeroU32,
    limiter: Limiter,
}

impl LimiterWithRate {
    fn new(rate: NonZeroU32) -> Arc<Self> {
        let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(BURST_OF_ONE));
        let limiter = RateLimiter::direct_with_clock(quota, MonotonicClock).with_middleware();
        Arc::new(Self { rate, limiter })
    }
}

const BURST_OF_ONE: NonZeroU32 = NonZeroU32::MIN.saturating_add(BURST - 1);

impl Rates {
    /// Creates empty counters.
    pub fn new(defaults: Defaults) -> Self {
        let counted = moka::sync::Cache::builder()
            .max_capacity(MAX_CALLERS)
            .time_to_idle(IDLE_TIME)
            // The default policy (TinyLFU) keeps frequent callers and might never admit a new one. Requests from the
            // new caller would then not be counted.
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self { defaults, counted, hasher: RandomState::new() }
    }

    /// Counts a request from an authenticated caller. The user's limit is checked first, so that rejected requests from
    /// one user do not use up the tenant's limit. If Redis is configured, the request is then also counted across all
    /// processes.
    ///
    /// # Errors
    /// `RateLimited` if the request exceeds a limit.
    pub(super) async fn count(&self, request: &HttpRequest, caller: &Bearer) -> Result<()> {
        let limits = self.limits(caller);
        let mut headers = RateHeaders::new(request);
        limits.iter().try_for_each(|limit| self.take(&mut headers, limit))?;
        let Some(shared) = request.app_data::<Data<SharedRates>>() else { return Ok(()) };
        let counted: Vec<_> = limits.iter().map(|limit| limit.shared(caller.tenant())).collect();
        let Some(decision) = shared.count(&counted, BURST).await else { return Ok(()) };
        for (limit, left) in limits.iter().zip(decision.left) {
            headers.note(limit.rate.get(), BURST, left);
        }
        match decision.refused.and_then(|(at, wait)| Some((limits.get(at)?, wait))) {
            Some((limit, wait)) => Err(limit.refuse(wait)),
            None => Ok(()),
        }
    }

    /// Returns the limits that apply to a caller, in the order of the checks.
    fn limits<'a>(&self, caller: &'a Bearer) -> Vec<Limit<'a>> {
        let (settings, defaults, tenant) = (caller.settings(), &self.defaults, caller.tenant());
        if caller.is_operator() {
            return Limit::of(RateGroup::Operator(caller.actor()), defaults.user).into_iter().collect();
        }
        let user = caller.external_id().and_then(|user| {
            Limit::of(RateGroup::User(tenant, user), settings.user_requests_per_second.unwrap_or(defaults.user))
        });
        let key = caller
            .key()
            .and_then(|key| Limit::of(RateGroup::Key(key.0), settings.key_requests_per_second.unwrap_or(defaults.key)));
        let all = Limit::of(RateGroup::Tenant(tenant), settings.requests_per_second.unwrap_or(defaults.tenant));
        user.into_iter().chain(key).chain(all).collect()
    }

    /// Counts a request without a credential.
    ///
    /// # Errors
    /// `RateLimited` if the address exceeds its limit.
    pub fn count_stranger(&self, request: &HttpRequest) -> Result<()> {
        let address = client::counted_address(request);
        let limit = address.and_then(|address| Limit::of(RateGroup::Address(address), self.defaults.address));
        limit.map_or(Ok(()), |limit| self.take(&mut RateHeaders::new(request), &limit))
    }

    fn take(&self, headers: &mut RateHeaders<'_>, limit: &Limit<'_>) -> Result<()> {
        let counted = self.counted(self.hasher.hash_one(&limit.group), limit.rate);
        match counted.limiter.check() {
            Ok(left) => {
                headers.note(limit.rate.get(), BURST, left.remaining_burst_capacity());
                Ok(())
            }
            Err(until) => {
                headers.note(limit.rate.get(), BURST, 0);
                Err(limit.refuse(until.wait_time_from(MonotonicClock.now())))
            }
        }
    }

    /// Returns the rate limiter for a caller. Creates a new one if the rate has changed.
    fn counted(&self, key: u64, rate: NonZeroU32) -> Arc<LimiterWithRate> {
        let counted = self.counted.get_with(key, || LimiterWithRate::new(rate));
        if counted.rate == rate {
            return counted;
        }
        let anew = LimiterWithRate::new(rate);
        self.counted.insert(key, anew.clone());
        anew
    }
}

/// Rounds a wait up to whole seconds for `Retry-After`, at least one.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX).max(1)
}
