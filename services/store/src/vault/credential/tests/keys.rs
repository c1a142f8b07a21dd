//! Real keys, and tokens signed with them by other code than the library under test.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

pub(super) enum Key {
    Secret(Vec<u8>),
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Key {
    pub(super) fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    pub(super) fn ec() -> Self {
        Self::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
    }

    pub(super) fn ed() -> Self {
        let mut seed = [0; 32];
        rand::fill(&mut seed).unwrap();
        Self::Ed(Ed25519KeyPair::from_seed_unchecked(&seed).unwrap())
    }

    pub(super) fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Secret(secret) => json!({ "kty": "oct", "kid": kid, "k": b64(secret) }),
            Self::Rsa(pair) => {
                let public = pair.public_key();
                let (n, e) = (public.modulus(), public.exponent());
                json!({ "kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256",
                    "n": b64(n.big_endian_without_leading_zero()), "e": b64(e.big_endian_without_leading_zero()) })
            }
            Self::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({ "kty": "EC", "kid": kid, "crv": "P-256", "x": b64(&point[1..33]), "y": b64(&point[33..]) })
            }
            Self::Ed(pair) => {
                json!({ "kty": "OKP", "kid": kid, "crv": "Ed25519", "x": b64(pair.public_key().as_ref()) })
            }
        }
    }

    /// Returns the public key as DER and as PEM, which a forger might use as an HMAC secret.
    pub(super) fn public_encodings(&self) -> Vec<Vec<u8>> {
        let Self::Rsa(pair) = self else { panic!("RSA only") };
        let der: PublicKeyX509Der = pair.public_key().as_der().unwrap();
        let base64 = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
        let lines: Vec<&str> = base64.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", lines.join("\n"));
        vec![
            der.as_ref().to_vec(),
            pair.public_key().as_ref().to_vec(),
            pair.public_key().modulus().big_endian_without_leading_zero().to_vec(),
            pem.clone().into_bytes(),
            format!("{pem}\n").into_bytes(),
        ]
    }

    pub(super) fn token(&self, header: &Value, claims: &Value) -> String {
        self.sign_raw(&header.to_string(), &claims.to_string())
    }

    pub(super) fn sign_raw(&self, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", b64(header.as_bytes()), b64(claims.as_bytes()));
        let bytes = message.as_bytes();
        let random = SystemRandom::new();
        let signature = match self {
            Self::Secret(secret) => hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), bytes).as_ref().to_vec(),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, bytes, &mut signature).unwrap();
                signature
            }
            Self::Ec(pair) => pair.sign(&random, bytes).unwrap().as_ref().to_vec(),
            Self::Ed(pair) => pair.sign(bytes).as_ref().to_vec(),
        };
        format!("{message}.{}", b64(&signature))
    }
}

pub(super) fn b64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
