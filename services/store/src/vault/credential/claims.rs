//! Claims of a token. A claim of the wrong type rejects the token instead of being ignored.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use super::TokenError;

/// Claims of a verified token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    pub iss: String,
    /// The user's external id: 1 to 255 characters, no control characters.
    pub sub: String,
    pub tid: String,
    /// Granted scopes (RFC 8693, 4.2), in the token's order; empty if the token has no scope.
    pub scope: Vec<String>,
    /// Roles, in the token's order; empty if absent.
    pub roles: Vec<String>,
    /// Expiry, in seconds since 1970-01-01 UTC.
    pub exp: u64,
}

impl Claims {
    /// Returns the expiry; `None` for a time beyond the calendar.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(i64::try_from(self.exp).ok()?, 0)
    }
}

/// Unchecked claims, of any type. A duplicate claim is a JSON error.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RawClaims {
    iss: Option<Value>,
    sub: Option<Value>,
    tid: Option<Value>,
    exp: Option<Value>,
    iat: Option<Value>,
    scope: Option<Value>,
    roles: Option<Value>,
}

impl RawClaims {
    /// Returns the issuer and the tenant, which are needed to find the key for verification.
    pub(super) fn origin(&self) -> Result<(String, String), TokenError> {
        Ok((text("iss", &self.iss, 512)?, text("tid", &self.tid, 64)?))
    }

    /// Checks the type of each claim.
    pub(super) fn check(&self) -> Result<Claims, TokenError> {
        let (iss, tid) = self.origin()?;
        if self.iat.is_some() {
            seconds("iat", &self.iat)?;
        }
        Ok(Claims {
            iss,
            tid,
            sub: text("sub", &self.sub, 255)?,
            exp: seconds("exp", &self.exp)?,
            scope: words("scope", &self.scope)?,
            roles: match &self.roles {
                Some(Value::String(_)) => return Err(TokenError::Claim("roles")),
                roles => words("roles", roles)?,
            },
        })
    }
}

fn text(name: &'static str, value: &Option<Value>, max_chars: usize) -> Result<String, TokenError> {
    match value {
        Some(Value::String(text))
            if !text.is_empty() && text.chars().count() <= max_chars && !text.chars().any(char::is_control) =>
        {
            Ok(text.clone())
        }
        _ => Err(TokenError::Claim(name)),
    }
}

/// Parses a NumericDate (RFC 7519, 2) as whole seconds. A fraction is dropped.
fn seconds(name: &'static str, value: &Option<Value>) -> Result<u64, TokenError> {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let number = value.as_ref().ok_or(TokenError::Claim(name))?;
    if let Some(whole) = number.as_u64() {
        return Ok(whole);
    }
    match number.as_f64() {
        Some(fractional) if (0.0..MAX_EXACT).contains(&fractional) => Ok(fractional as u64),
        _ => Err(TokenError::Claim(name)),
    }
}

/// Parses space-separated words, in one string or a list of strings.
fn words(name: &'static str, value: &Option<Value>) -> Result<Vec<String>, TokenError> {
    let lines = match value {
        None => return Ok(Vec::new()),
        Some(Value::String(line)) => vec![line.as_str()],
        Some(Value::Array(items)) => {
            items.iter().map(Value::as_str).collect::<Option<_>>().ok_or(TokenError::Claim(name))?
        }
        Some(_) => return Err(TokenError::Claim(name)),
    };
    Ok(lines.into_iter().flat_map(|line| line.split(' ')).filter(|word| !word.is_empty()).map(str::to_owned).collect())
}
