//! Commands for API keys and token issuers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::admin::lines::labelled;
use crate::admin::requests::{AdminRequests, text};

/// Commands for API keys and issuers.
#[derive(Subcommand)]
pub(super) enum CredentialCommand {
    /// List API keys, newest first
    Keys,
    /// Create an API key and print it; it cannot be shown again
    CreateKey {
        /// Name of the key, for people
        name: String,
        /// Scopes, separated by commas: skills:read, skills:write, sessions, memories, review, admin
        #[arg(long, value_delimiter = ',', required = true)]
        scope: Vec<String>,
        /// Time at which the key expires, e.g. 2027-11-01T00:00:00Z; by default never
        #[arg(long, value_name = "TIME")]
        expires_at: Option<String>,
    },
    /// Replace an API key by a new one and print it; it cannot be shown again
    RotateKey {
        /// Id of the key to replace
        id: Uuid,
        /// Hours during which the replaced key stays valid, 0 to 720
        #[arg(long, value_name = "HOURS", default_value_t = 24)]
        overlap_hours: u32,
    },
    /// Revoke an API key permanently, within a second
    RevokeKey {
        /// Id of the key
        id: Uuid,
    },
    /// List token issuers
    Issuers,
    /// Register an issuer of tokens, with a shared secret or the URL of its public keys
    CreateIssuer(NewIssuer),
    /// Remove an issuer: its tokens stop working within a second
    DeleteIssuer {
        /// Id of the issuer
        id: Uuid,
    },
}

/// A new issuer.
#[derive(Args)]
pub(super) struct NewIssuer {
    /// The `iss` of its tokens
    iss: String,
    /// Algorithm of its tokens: HS256, RS256, ES256, EdDSA
    #[arg(long)]
    algorithm: String,
    /// The `aud` of its tokens; by default the deployment's audience
    #[arg(long)]
    audience: Option<String>,
    /// HTTPS URL of its public keys
    #[arg(long, value_name = "URL", conflicts_with = "secret_file")]
    jwks_url: Option<String>,
    /// File with the shared secret of HS256, at least 32 bytes; - for standard input
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

impl AdminRequests {
    pub(super) async fn manage_credentials(&self, command: CredentialCommand) -> Result<()> {
        match command {
            CredentialCommand::Keys => self.list("/v1/admin/keys", key_line, "there is no key").await,
            CredentialCommand::CreateKey { name, scope, expires_at } => {
                let body = json!({ "name": name, "scopes": scope, "expires_at": expires_at });
                self.create_key("/v1/admin/keys", &body).await
            }
            CredentialCommand::RotateKey { id, overlap_hours } => {
                let body = json!({ "overlap_hours": overlap_hours });
                self.create_key(&format!("/v1/admin/keys/{id}/rotate"), &body).await
            }
            CredentialCommand::RevokeKey { id } => {
                self.delete(&format!("/v1/admin/keys/{id}"), &id.to_string(), format!("key {id} is revoked")).await
            }
            CredentialCommand::Issuers => self.list("/v1/admin/issuers", issuer_line, "there is no issuer").await,
            CredentialCommand::CreateIssuer(issuer) => self.create_issuer(&issuer).await,
            CredentialCommand::DeleteIssuer { id } => {
                let path = format!("/v1/admin/issuers/{id}");
                self.delete(&path, &id.to_string(), format!("issuer {id} is removed")).await
            }
        }
    }

    async fn create_key(&self, path: &str, body: &Value) -> Result<()> {
        let unknown = "if the service was unavailable, `keys` shows whether the key was made; revoke it then";
        let key = self.create_once(path, body).await.context(unknown)?;
        self.tell_secret(&key, &key_line(&key))
    }

    async fn create_issuer(&self, issuer: &NewIssuer) -> Result<()> {
        let body = json!({
            "iss": issuer.iss,
            "algorithm": issuer.algorithm,
            "audience": issuer.audience,
            "jwks_url": issuer.jwks_url,
            "secret": issuer.secret_file.as_deref().map(read_secret).transpose()?,
        });
        let issuer = self.ask(Method::POST, "/v1/admin/issuers", Some(&body)).await?;
        self.tell(&issuer, issuer_line(&issuer))
    }
}

/// Reads a secret without the line break at its end. Errors do not quote it.
fn read_secret(file: &Path) -> Result<String> {
    let secret = match file.as_os_str() == "-" {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(file),
    };
    let secret = secret.with_context(|| format!("cannot read the secret from {}", file.display()))?;
    Ok(secret.trim_end_matches(['\r', '\n']).to_owned())
}

fn key_line(key: &Value) -> String {
    format!(
        "{} kh_{} {}: {}, created {}{}{}{}",
        text(key, "id"),
        text(key, "prefix"),
        text(key, "name"),
        labelled("", key, "scopes"),
        text(key, "created_at"),
        labelled(", expires ", key, "expires_at"),
        labelled(", revoked ", key, "revoked_at"),
        labelled(", last used ", key, "last_used_at"),
    )
}

fn issuer_line(issuer: &Value) -> String {
    format!(
        "{} {}: {} for {}{}, created {}",
        text(issuer, "id"),
        text(issuer, "iss"),
        text(issuer, "algorithm"),
        text(issuer, "audience"),
        labelled(", keys at ", issuer, "jwks_url"),
        text(issuer, "created_at"),
    )
}
