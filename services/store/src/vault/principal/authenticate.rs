//! Where credentials and claimed jobs become principals.

use std::sync::Arc;

use knowhow_domain::{Error, KeyId, Result, Scope, Scopes, TenantId, TenantSettings, UserId};
use uuid::Uuid;

use super::{Actor, Principal, check_external_id};
use crate::across::refused::RefusedLogin;
use crate::across::system::{self, Claim, KeyUse, MadeBy, Newcomer, Owner, Rehashed};
use crate::credential::{Claims, Issuer, IssuerKeys, TokenError, TokenId, api_key, peek, verify, verify_at};
use crate::queue::{Claimed, JobError};
use crate::vault::gate::{GateState, KnownKey, KnownTenant, KnownUser};
use crate::{Database, trail};

/// The deployment's own issuer, whose tokens may carry the role `operator`.
#[derive(Clone)]
pub struct OperatorIssuer {
    /// `iss` of its tokens.
    pub iss: String,
    /// HS256 secret, at least 32 bytes.
    pub secret: Vec<u8>,
}

/// What signs a development token.
pub struct SigningIssuer {
    pub iss: String,
    pub audience: String,
    /// HS256 secret.
    pub secret: Vec<u8>,
}

/// Whom a credential that is good stands for, before the database is asked for its user.
pub struct Bearer {
    tenant: Arc<KnownTenant>,
    external_id: Option<Arc<str>>,
    key: Option<KeyId>,
    scopes: Scopes,
    caller: Caller,
}

impl Bearer {
    /// The tenant that the credential is of.
    pub fn tenant(&self) -> TenantId {
        self.tenant.id
    }

    /// Quotas and switches of that tenant.
    pub fn settings(&self) -> &TenantSettings {
        &self.tenant.settings
    }

    /// The user, as the tenant calls it; `None` where it stands for none.
    pub fn external_id(&self) -> Option<&str> {
        self.external_id.as_deref()
    }

    /// The API key that it is.
    pub fn key(&self) -> Option<KeyId> {
        self.key
    }

    /// Whether an operator of the deployment calls.
    pub fn is_operator(&self) -> bool {
        matches!(self.caller, Caller::Operator(_))
    }

    /// As the audit log shows the caller.
    pub fn actor(&self) -> String {
        self.caller.name(self.external_id())
    }
}

/// What kind of credential calls, for history and audit.
enum Caller {
    /// A token of a tenant's issuer, for its own user.
    Token,
    /// An API key, by the prefix that may be shown.
    Key(Arc<str>),
    /// Whoever runs the command line.
    Shell,
    /// A token of the deployment's own issuer, by its subject.
    Operator(Arc<str>),
}

impl Caller {
    /// Who did it, on behalf of `user`: stored with the user's id, and shown with the tenant's own name.
    fn name(&self, user: Option<&str>) -> String {
        match (self, user) {
            (Self::Token, user) => format!("user:{}", user.unwrap_or_default()),
            (Self::Key(prefix), Some(user)) => format!("key:{prefix} for {user}"),
            (Self::Key(prefix), None) => format!("key:{prefix}"),
            (Self::Shell, Some(user)) => format!("shell for {user}"),
            (Self::Shell, None) => "shell".into(),
            (Self::Operator(subject), _) => format!("operator:{subject}"),
        }
    }
}

/// Where credentials become principals. One per worker thread; what is known is shared by all of them.
#[derive(Clone)]
pub struct Gate {
    db: Database,
    state: Arc<GateState>,
}

impl Gate {
    /// `tid` of an operator's token that stands in no tenant.
    pub const NO_TENANT: &str = "*";

    /// A gate over this thread's connections.
    pub fn new(db: Database, state: Arc<GateState>) -> Self {
        Self { db, state }
    }

    /// Verifies the bearer credential and finds or makes its user.
    ///
    /// # Errors
    /// As [`Gate::verify`] and [`Gate::admit`].
    pub async fn authenticate(&self, bearer: &str, on_behalf_of: Option<&str>) -> Result<Principal> {
        self.admit(self.verify(None, bearer, on_behalf_of).await?).await
    }

    /// Verifies the bearer credential. A face of the service may have a URI of its own, `resource`: tokens may name it as their
    /// audience instead.
    ///
    /// # Errors
    /// `Unauthenticated` for what does not verify, without telling what exists, so also where the issuer's keys are
    /// out of reach; `Unavailable` where the database is; `Forbidden` for a token that would speak for another user.
    pub async fn verify(&self, resource: Option<&str>, bearer: &str, on_behalf_of: Option<&str>) -> Result<Bearer> {
        let entering = match api_key::parse(bearer) {
            Some((prefix, secret)) => self.by_key(prefix, secret, on_behalf_of).await,
            None => self.by_token(bearer, resource).await.and_then(|bearer| match on_behalf_of {
                // A token speaks for its own user alone.
                Some(other) if bearer.external_id() != Some(other) => Err(Error::Forbidden("API key")),
                _ => Ok(bearer),
            }),
        };
        if let Err(Error::Unauthenticated(_)) = &entering {
            let tenant = self.tenant_tried(bearer).await;
            let login = RefusedLogin { tenant, address: trail::address() };
            self.state.refused.note(&self.db, &self.state.clock, login);
        }
        entering
    }

    /// At whose door a refused credential knocked, for that tenant's audit log; nobody's where it names none that there is.
    async fn tenant_tried(&self, bearer: &str) -> TenantId {
        let tried = match api_key::parse(bearer) {
            Some((prefix, _)) => {
                let keys = self.state.keys(&self.db, prefix).await.ok();
                keys.and_then(|keys| keys.first().map(|key| key.tenant.id))
            }
            None => match peek(bearer) {
                Ok(peeked) => self.tenant(&peeked.tid).await.ok().flatten().map(|tenant| tenant.id),
                Err(_) => None,
            },
        };
        tried.unwrap_or(TenantId(Uuid::nil()))
    }

    async fn by_key(&self, prefix: &str, secret: &str, on_behalf_of: Option<&str>) -> Result<Bearer> {
        let known = self.state.keys(&self.db, prefix).await?;
        let now = self.state.clock.now();
        let key = known
            .iter()
            .find(|k| self.state.sealer.verify_api_key(secret, &k.secret_hash).is_some() && k.is_live(now))
            .ok_or_else(|| Error::Unauthenticated("the API key is unknown, expired or revoked".into()))?;
        self.note_use(key, secret);
        Ok(Bearer {
            tenant: key.tenant.clone(),
            external_id: on_behalf_of.map(Arc::from),
            key: Some(key.id),
            scopes: key.scopes,
            caller: Caller::Key(prefix.into()),
        })
    }

    /// Last use is for people to look at: at most once a minute, nobody waits for it, and it is never a reason to refuse.
    /// Where the hash is under the master key before, the one under the current one takes its place.
    fn note_use(&self, key: &KnownKey, secret: &str) {
        if !self.state.use_is_due(key.id) {
            return;
        }
        let sealer = &self.state.sealer;
        let is_noted = key.hashed_under.as_deref() == Some(sealer.mark());
        let rehashed = || Rehashed { hash: sealer.hash_api_key(secret).to_vec(), mark: sealer.mark().to_vec() };
        let rehashed = (!is_noted).then(rehashed);
        let used = KeyUse { tenant: key.tenant.id, key: key.id, now: self.state.clock.now(), rehashed };
        let db = self.db.clone();
        tokio::spawn(async move {
            if let Err(error) = system::note_key_use(&db, &used).await {
                tracing::warn!(%error, "the last use of an API key was not written");
            }
        });
    }

    async fn by_token(&self, token: &str, resource: Option<&str>) -> Result<Bearer> {
        let id = TokenId::of(token, resource);
        if let Some(id) = id
            && let Some(bearer) = self.by_kept_token(id).await?
        {
            return Ok(bearer);
        }
        let peeked = peek(token)?;
        if let Some(operator) = self.state.operator.as_ref().filter(|o| o.iss == peeked.iss) {
            return self.by_operator_token(token, operator).await;
        }
        // Answers as for a wrong signature, so that a caller without a token cannot find out the names of tenants.
        let unknown = || Error::from(TokenError::Signature);
        let tenant = self.tenant(&peeked.tid).await?.ok_or_else(unknown)?;
        let issuer = tenant.issuers.iter().find(|i| i.iss == peeked.iss).ok_or_else(unknown)?;
        let verified = verify_at(resource, token, issuer, &self.state.jwks).await.map_err(|refusal| match refusal {
            // A reason found before the signature is verified would tell that tenant and issuer exist. So would an
            // answer that the keys are out of reach; the log tells the people who run the service.
            TokenError::Algorithm
            | TokenError::UnknownKey
            | TokenError::WeakSecret
            | TokenError::Malformed
            | TokenError::Unavailable => unknown(),
            after => after.into(),
        })?;
        let bearer = by_claims(tenant.clone(), &verified.claims);
        if let Some(id) = id {
            self.state.tokens.keep(id, verified, issuer);
        }
        Ok(bearer)
    }

    /// Whose token this is, where it was verified before and would verify now; else `None`.
    async fn by_kept_token(&self, id: TokenId) -> Result<Option<Bearer>> {
        let Some(kept) = self.state.tokens.get(id) else { return Ok(None) };
        let Some(tenant) = self.tenant(&kept.claims().tid).await? else { return Ok(None) };
        let issuer = tenant.issuers.iter().find(|issuer| issuer.iss == kept.claims().iss);
        let Some(issuer) = issuer else { return Ok(None) };
        if !kept.is_good_for(issuer, &self.state.jwks).await {
            return Ok(None);
        }
        Ok(Some(by_claims(tenant.clone(), kept.claims())))
    }

    async fn by_operator_token(&self, token: &str, operator: &OperatorIssuer) -> Result<Bearer> {
        let issuer = Issuer {
            iss: operator.iss.clone(),
            audience: self.state.audience.clone(),
            keys: IssuerKeys::Hs256 { secret: operator.secret.clone() },
        };
        let claims = verify(token, &issuer, &self.state.jwks).await?;
        if !claims.roles.iter().any(|r| r == "operator") {
            return Err(Error::Unauthenticated("the operator's token carries no role 'operator'".into()));
        }
        let tenant = if claims.tid == Self::NO_TENANT {
            Arc::new(KnownTenant::nowhere())
        } else {
            let unknown = || Error::Unauthenticated("the token's tenant is not known here".into());
            self.tenant(&claims.tid).await?.ok_or_else(unknown)?
        };
        Ok(Bearer {
            tenant,
            external_id: None,
            key: None,
            scopes: [Scope::Admin].into_iter().collect(),
            caller: Caller::Operator(claims.sub.as_str().into()),
        })
    }

    /// A person who runs the command line with the service's own database credentials and secret key is an operator.
    ///
    /// # Errors
    /// `NotFound` where there is no such tenant.
    pub async fn operator_at_shell(&self, slug: Option<&str>) -> Result<Principal> {
        let tenant = match slug {
            Some(slug) => self.tenant(slug).await?.ok_or_else(|| Error::not_found("tenant"))?,
            None => Arc::new(KnownTenant::nowhere()),
        };
        Ok(Principal {
            erasures: tenant.erasures,
            tenant,
            user: None,
            scopes: [Scope::Admin].into_iter().collect(),
            operator: true,
            backend: false,
            actor: Actor::of(Caller::Shell.name(None)),
            starters_release: None,
        })
    }

    /// The same person at work for a user of a tenant, as that user's jobs would do it: with all that a user may do and no more,
    /// so that nothing counts as looked at by somebody who reviews. Such a person can mint the user's token; this spares a tenant
    /// an issuer whose tokens the service could sign.
    ///
    /// # Errors
    /// `NotFound` where there is no such tenant; `Malformed` for the user's id.
    pub async fn user_at_shell(&self, slug: &str, external_id: &str) -> Result<Principal> {
        let tenant = self.tenant(slug).await?.ok_or_else(|| Error::not_found("tenant"))?;
        let (external_id, scopes) = (Some(Arc::from(external_id)), Scopes::of_user());
        self.admit(Bearer { tenant, external_id, key: None, scopes, caller: Caller::Shell }).await
    }

    /// Finds or makes the user of a credential that was verified.
    ///
    /// # Errors
    /// `Suspended` where the tenant or the user is, but for operators; `Malformed` for an unusable `Knowhow-User`; `Quota` where the
    /// tenant may have no more users; `Unavailable`.
    pub async fn admit(&self, bearer: Bearer) -> Result<Principal> {
        let operator = bearer.is_operator();
        let Bearer { tenant, external_id, key, scopes, caller } = bearer;
        if !operator {
            refuse_suspended("tenant", tenant.suspended.as_deref())?;
        }
        let shown = caller.name(external_id.as_deref()).into();
        let (user, starters_release) = match external_id {
            None => (None, None),
            Some(external) => {
                check_external_id(&external)?;
                let by = |id: UserId| caller.name(Some(&id.to_string()));
                let known = self.user(&tenant, &external, &by).await?;
                refuse_suspended("user", known.suspended.as_deref())?;
                (Some((known.id, external)), known.starters_release)
            }
        };
        let id = user.as_ref().map(|(id, _)| id.to_string());
        let actor = Actor { stored: caller.name(id.as_deref()).into(), shown };
        let (erasures, backend) = (tenant.erasures, key.is_some());
        Ok(Principal { tenant, user, scopes, operator, backend, actor, starters_release, erasures })
    }

    /// Whose job a worker has claimed: its user, with all that a user may do. `None` where the user or the tenant is gone,
    /// or the job is one of the system.
    ///
    /// # Errors
    /// `Refused` for a job that the database did not put into the queue for that user; `Suspended` where it has to wait; else
    /// `Unavailable`.
    pub async fn by_claimed_job(&self, claimed: &Claimed) -> Result<Option<Principal>, JobError> {
        let Some((tenant, user)) = claimed.owner() else { return Ok(None) };
        let claim = Claim { tenant, user, task: claimed.task(), payload: claimed.payload() };
        let found = system::find_owner(&self.db, &claim).await?;
        let Some((owner, is_sealed)) = found else { return Ok(None) };
        if !is_sealed {
            return Err(JobError::Refused);
        }
        let Owner { tenant, external_id, starters_release, suspended } = owner;
        if let Some((error, since)) = suspended {
            return Err(JobError::Suspended { error, lasted: self.state.clock.now() - since });
        }
        Ok(Some(Principal {
            erasures: tenant.erasures,
            tenant: Arc::new(tenant),
            user: Some((user, external_id.into())),
            scopes: Scopes::of_user(),
            operator: false,
            backend: false,
            actor: Actor::of(format!("job:{}", claimed.task())),
            starters_release,
        }))
    }

    pub(crate) async fn tenant(&self, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        if is_plausible(slug) { self.state.tenant(&self.db, slug).await } else { Ok(None) }
    }

    /// The tenant as the database says it now.
    pub(crate) async fn fresh_tenant(&self, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        if is_plausible(slug) { self.state.fresh_tenant(&self.db, slug).await } else { Ok(None) }
    }

    /// Makes the user that the tenant calls `external_id`, or finds it.
    ///
    /// # Errors
    /// `Forbidden` for anyone but an admin; `Malformed` for the id.
    pub async fn ensure_user(&self, admin: &Principal, external_id: &str) -> Result<UserId> {
        admin.require_admin()?;
        check_external_id(external_id)?;
        Ok(self.user(&admin.tenant, external_id, &|_| admin.actor().to_owned()).await?.id)
    }

    /// The user that the tenant calls `external_id`; made at first sight, as the audit log says of `by`.
    async fn user(&self, tenant: &KnownTenant, external_id: &str, by: &MadeBy<'_>) -> Result<KnownUser> {
        let now = self.state.clock.now();
        let (erasures, most) = (tenant.erasures, tenant.settings.users);
        let newcomer = Newcomer { tenant: tenant.id, erasures, most, external_id, by, now };
        self.state.user(&self.db, &newcomer).await
    }

    /// An issuer of the principal's tenant whose tokens this service can sign itself: the first with a shared secret.
    pub fn find_signing_issuer(&self, operator: &Principal) -> Option<SigningIssuer> {
        operator.tenant.issuers.iter().find_map(|issuer| match &issuer.keys {
            IssuerKeys::Hs256 { secret } => Some(SigningIssuer {
                iss: issuer.iss.clone(),
                audience: issuer.audience.clone(),
                secret: secret.clone(),
            }),
            IssuerKeys::Jwks { .. } => None,
        })
    }

    /// Whether that `iss` is the deployment's own, which no tenant may register.
    pub fn is_operator_issuer(&self, iss: &str) -> bool {
        self.state.operator.as_ref().is_some_and(|o| o.iss == iss)
    }

    /// What every gate of this process knows.
    pub fn state(&self) -> &Arc<GateState> {
        &self.state
    }
}

fn refuse_suspended(what: &'static str, reason: Option<&str>) -> Result<()> {
    reason.map_or(Ok(()), |reason| Err(Error::Suspended { what, reason: reason.to_owned() }))
}

fn is_plausible(slug: &str) -> bool {
    slug.len() <= 64 && slug.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn by_claims(tenant: Arc<KnownTenant>, claims: &Claims) -> Bearer {
    Bearer {
        tenant,
        external_id: Some(claims.sub.as_str().into()),
        key: None,
        scopes: scopes_of(claims),
        caller: Caller::Token,
    }
}

fn scopes_of(claims: &Claims) -> Scopes {
    let named: Scopes = claims.scope.iter().filter_map(|s| s.parse().ok()).collect();
    claims.roles.iter().fold(named, |scopes, role| match role.as_str() {
        "tenant_admin" => scopes.union(Scopes::all()),
        "user" => scopes.union(Scopes::of_user()),
        _ => scopes,
    })
}
