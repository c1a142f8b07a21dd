//! No authorities. sqlx adds those of the crate of this name to the ones of `sslrootcert`. A server with a certificate of any
//! public authority would then pass `sslmode=verify-ca`, which is asked for to exclude it.

use rustls_pki_types::TrustAnchor;

/// The authorities that are trusted without being named: none.
pub const TLS_SERVER_ROOTS: &[TrustAnchor<'static>] = &[];
