//! An empty list of certificate authorities, which replaces the crate of the same name. sqlx adds the authorities of
//! that crate to those of `sslrootcert`. With the original crate, a server with a certificate of any public authority
//! would pass `sslmode=verify-ca`.

use rustls_pki_types::TrustAnchor;

/// The authorities that are trusted by default. The list is empty.
pub const TLS_SERVER_ROOTS: &[TrustAnchor<'static>] = &[];
