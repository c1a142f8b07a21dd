//! `knowhow tenant create`, `knowhow key create`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use chrono::TimeDelta;
use clap::Subcommand;
use knowhow_domain::{Algorithm, Scope};
use knowhow_ops::admin::{self, CreateIssuer, CreateKey, CreateTenant, UnderKeys};
use knowhow_ops::{App, Ctx, Principal};
use knowhow_store::credential::api_key;

use super::move_tenant::MoveTenant;
use super::{print, shell};
use crate::config::Config;

/// Tenants.
#[derive(Subcommand)]
pub(super) enum TenantCommand {
    /// Make a tenant, with an HS256 issuer for `knowhow token`
    Create {
        /// Lower-case letters and digits, joined by single dashes
        slug: String,
        /// For people
        #[arg(long)]
        name: Option<String>,
        /// Which database it is to live in, one of KNOWHOW_PLACES or home
        #[arg(long)]
        place: Option<String>,
    },
    /// Move a tenant to another database while it is used; refuses its requests for a moment
    Move(MoveTenant),
}

/// API keys.
#[derive(Subcommand)]
pub(super) enum KeyCommand {
    /// Make an API key and print it, this once
    Create {
        /// The tenant's slug
        #[arg(long)]
        tenant: String,
        /// For people
        #[arg(long, default_value = "command line")]
        name: String,
        /// Scopes, separated by commas
        #[arg(long, value_delimiter = ',', default_value = "skills:read,skills:write,sessions,memories")]
        scope: Vec<String>,
        /// When it expires, in days; by default never
        #[arg(long)]
        days: Option<u32>,
    },
    /// Seal anew what is under KNOWHOW_SECRET_KEY_PREVIOUS: secrets of issuers and webhooks
    Reseal,
}

impl TenantCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let (slug, name, place) = match self {
            Self::Create { slug, name, place } => (slug, name, place),
            Self::Move(order) => return order.run().await,
        };
        let app = shell::app(config)?;
        create_tenant(&app, CreateTenant { slug: slug.clone(), name, settings: None, place }).await?;
        print::line(slug)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Makes a tenant with an issuer whose tokens this service can sign.
pub(super) async fn create_tenant(app: &App, tenant: CreateTenant) -> Result<()> {
    let nowhere = app.gate.operator_at_shell(None).await?;
    admin::create_tenant(&Ctx::of(app, &nowhere), &tenant).await?;
    app.gate.state().forget_tenants();
    let operator = app.gate.operator_at_shell(Some(&tenant.slug)).await?;
    add_issuer(app, &operator).await
}

/// Registers an HS256 issuer with a fresh secret.
pub(super) async fn add_issuer(app: &App, operator: &Principal) -> Result<()> {
    let (_, secret) = api_key::generate()?;
    let issuer = CreateIssuer {
        iss: format!("knowhow-dev/{}", operator.tenant_slug()),
        audience: None,
        algorithm: Algorithm::HS256,
        secret: Some(secret.into()),
        jwks_url: None,
    };
    admin::create_issuer(&Ctx::of(app, operator), &issuer).await?;
    Ok(())
}

impl KeyCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let app = shell::app(config)?;
        let Self::Create { tenant, name, scope, days } = self else { return reseal(&app).await };
        let operator = app.gate.operator_at_shell(Some(&tenant)).await?;
        let scopes = scope
            .iter()
            .map(|s| s.parse::<Scope>().with_context(|| format!("'{s}' is not a scope")))
            .collect::<Result<Vec<_>>>()?;
        let expires_at = days.map(|days| app.clock.now() + TimeDelta::days(i64::from(days)));
        let created = admin::create_key(&Ctx::of(&app, &operator), &CreateKey { name, scopes, expires_at }).await?;
        print::line(&*created.secret)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Seals anew, and says what still needs the master key before.
async fn reseal(app: &App) -> Result<ExitCode> {
    let UnderKeys { current, previous, neither, api_keys } = admin::reseal(app).await?;
    print::line(format!("{previous} secrets were sealed anew, {current} were under the current master key already"))?;
    if neither > 0 {
        print::line(format!(
            "{neither} secrets open with neither master key: their issuers and webhooks need new ones"
        ))?;
    }
    print::line(format!(
        "{api_keys} API keys are not known to be under the current master key; each is once it is used"
    ))?;
    Ok(if neither > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
