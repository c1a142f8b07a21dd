//! The certificate checks of both drivers against a local server, and the message for each failure.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, date_time_ymd,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;

/// A folder that is deleted at the end of the test.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn make(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("knowhow-connect-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        restrict(&path, 0o600);
        path.display().to_string()
    }
}

fn restrict(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A certificate authority.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn make(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn sign(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> (String, String) {
        let mut params = CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// Listens like a server with `ssl = on` that rejects every role after the handshake.
async fn listen((chain, key): (String, String), clients: Option<&Authority>) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(rustls::pki_types::CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
            let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
        None => builder.with_no_client_auth(),
    };
    let chain = rustls::pki_types::CertificateDer::pem_slice_iter(chain.as_bytes()).map(Result::unwrap).collect();
    let config = builder.with_single_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap()).unwrap();
    let (listener, acceptor) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), TlsAcceptor::from(Arc::new(config)));
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut asked = [0; 8];
                // A client that begins without TLS is disconnected.
                if socket.read_exact(&mut asked).await.is_err() || asked[4..] != 80_877_103_u32.to_be_bytes() {
                    return;
                }
                socket.write_all(b"S").await.unwrap();
                let Ok(mut stream) = acceptor.accept(socket).await else { return };
                let _ = stream.read(&mut [0; 64]).await;
                let body = b"SFATAL\0C28P01\0Mthe handshake is over\0\0";
                let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
                let _ = stream.write_all(&[b"E", &length[..], body].concat()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    address
}

/// Connects to `url` with sqlx and with tokio-postgres, and returns the error from each.
async fn tried(url: &str) -> [(Cause, String); 2] {
    let url = DatabaseUrl::parse(url).unwrap().within(PATIENCE);
    let checked = CheckedConnector(url.clone()).connect().await.map(drop).unwrap_err();
    let pipelined = Pipelined(url).connect().await.map(drop).unwrap_err();
    [checked, pipelined].map(|error| (error.cause, error.to_string()))
}

async fn assert_tried(url: &str, cause: Cause, words: &str) {
    for (driver, (found, said)) in ["sqlx", "tokio-postgres"].into_iter().zip(tried(url).await) {
        assert_eq!(found, cause, "{driver} of {url}: {said}");
        assert!(said.contains(words) && !said.contains("5ec4e7"), "{driver} of {url}: {words}: {said}");
    }
}

/// The server rejects the login after the handshake, so this failure means that the handshake succeeded.
const DONE: (Cause, &str) = (Cause::Login, "the handshake is over");
const UNTRUSTED: (Cause, &str) = (Cause::Certificate, "signed by an authority that is not trusted");

#[tokio::test]
async fn both_drivers_verify_as_much_as_each_sslmode_requires() {
    let (folder, authority) = (TemporaryFolder::make("modes"), Authority::make("ours"));
    let (ours, others) = (folder.write("ca.crt", &authority.pem), folder.write("x.crt", &Authority::make("other").pem));
    let right = listen(authority.sign(&["localhost", "127.0.0.1"], |_| {}), None).await;
    let elsewhere = listen(authority.sign(&["db.example"], |_| {}), None).await;
    let misnamed = (Cause::Certificate, "is for db.example, not for 127.0.0.1: connect by a name in it");
    for (server, query, (cause, words)) in [
        (right, String::new(), DONE),
        (right, "sslmode=prefer".into(), DONE),
        (right, "sslmode=require".into(), DONE),
        (right, "sslmode=verify-ca".into(), UNTRUSTED),
        (right, "sslmode=verify-full".into(), UNTRUSTED),
        (right, "sslrootcert=system".into(), UNTRUSTED),
        (right, format!("sslrootcert={ours}"), DONE),
        (right, format!("sslrootcert={ours}&sslmode=require"), DONE),
        (right, format!("sslrootcert={ours}&sslmode=verify-full"), DONE),
        (right, format!("sslrootcert={others}"), UNTRUSTED),
        (right, format!("sslrootcert={others}&sslmode=prefer"), UNTRUSTED),
        (right, format!("sslrootcert={others}&sslmode=require"), UNTRUSTED),
        (right, format!("sslrootcert={others}&sslmode=verify-ca"), UNTRUSTED),
        (elsewhere, "sslmode=require".into(), DONE),
        (elsewhere, format!("sslrootcert={ours}&sslmode=require"), DONE),
        (elsewhere, format!("sslrootcert={ours}&sslmode=verify-ca"), DONE),
        (elsewhere, format!("sslrootcert={ours}&sslmode=verify-full"), misnamed),
    ] {
        assert_tried(&format!("postgres://me:5ec4e7@{server}/db?{query}"), cause, words).await;
    }
    let advice = "add sslrootcert=/path/to/ca.crt with that authority's certificate, or use sslmode=require";
    assert_tried(&format!("postgres://me:5ec4e7@{right}/db?sslmode=verify-ca"), Cause::Certificate, advice).await;
    let by_name = format!("postgres://me@localhost:{}/db?sslrootcert={ours}&sslmode=verify-full", right.port());
    assert_tried(&by_name, DONE.0, DONE.1).await;
}

#[tokio::test]
async fn errors_say_why_a_server_certificate_is_rejected() {
    let (folder, authority) = (TemporaryFolder::make("certificates"), Authority::make("ours"));
    let ours = folder.write("ca.crt", &authority.pem);
    let expired = authority.sign(&["127.0.0.1"], |params| {
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    });
    let early = authority.sign(&["127.0.0.1"], |params| params.not_before = date_time_ymd(2120, 1, 1));
    let purpose = authority.sign(&["127.0.0.1"], |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let unnamed = authority.sign(&[], |_| {});
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = params.self_signed(&key).unwrap().pem();
    let own_file = folder.write("own.crt", &own);
    for (certificate, root, words) in [
        (expired, &ours, "the server's certificate has expired"),
        (early, &ours, "is not valid yet"),
        (purpose, &ours, "is not for servers"),
        (unnamed, &ours, "is for no name (subjectAltName), not for 127.0.0.1"),
        ((own, key.serialize_pem()), &own_file, "is one of an authority (CA:TRUE)"),
    ] {
        let server = listen(certificate, None).await;
        let url = format!("postgres://me:5ec4e7@{server}/db");
        assert_tried(&format!("{url}?sslmode=verify-full&sslrootcert={root}"), Cause::Certificate, words).await;
        assert_tried(&format!("{url}?sslmode=require"), DONE.0, DONE.1).await;
    }
    // The certificate is self-signed without an authority, like the certificate of Debian's package.
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap().pem();
    let file = folder.write("snakeoil.crt", &own);
    let server = listen((own, key.serialize_pem()), None).await;
    assert_tried(&format!("postgres://me@{server}/db?sslmode=verify-full&sslrootcert={file}"), DONE.0, DONE.1).await;
}

#[tokio::test]
async fn client_certificates_are_sent_and_rejections_are_explained() {
    let (folder, authority) = (TemporaryFolder::make("clients"), Authority::make("ours"));
    let server = listen(authority.sign(&["127.0.0.1"], |_| {}), Some(&authority)).await;
    let url = format!("postgres://me@{server}/db?sslmode=require");
    let client = |authority: &Authority, name: &str| {
        let (certificate, key) = authority.sign(&["me"], |_| {});
        let (certificate, key) =
            (folder.write(&format!("{name}.crt"), &certificate), folder.write(&format!("{name}.key"), &key));
        format!("{url}&sslcert={certificate}&sslkey={key}")
    };
    assert_tried(&client(&authority, "right"), DONE.0, DONE.1).await;
    assert_tried(&url, Cause::Tls, "the server requires a client certificate").await;
    let stranger = client(&Authority::make("ours"), "wrong");
    assert_tried(&stranger, Cause::Tls, "the server rejects the client certificate").await;
}

#[test]
fn unusable_tls_files_are_reported_before_connecting() {
    let (folder, authority) = (TemporaryFolder::make("files"), Authority::make("ours"));
    let (certificate, key) = authority.sign(&["me"], |_| {});
    let ca = folder.write("ca.crt", &authority.pem);
    let (certificate, key) = (folder.write("me.crt", &certificate), folder.write("me.key", &key));
    let other = folder.write("other.key", &KeyPair::generate().unwrap().serialize_pem());
    let open = folder.write("open.key", &fs::read_to_string(&key).unwrap());
    let encrypted = folder
        .write("encrypted.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMA==\n-----END ENCRYPTED PRIVATE KEY-----\n");
    let old = folder.write(
        "old.key",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMA==\n-----END RSA PRIVATE KEY-----\n",
    );
    let (empty, broken) = (
        folder.write("empty", ""),
        folder.write("broken", "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"),
    );
    restrict(std::path::Path::new(&open), 0o644);
    let checked = |query: String| check_files(&DatabaseUrl::parse(&format!("postgres://me@db/x?{query}")).unwrap().tls);
    checked(format!("sslrootcert={ca}&sslcert={certificate}&sslkey={key}")).unwrap();
    checked("sslmode=disable&sslrootcert=/no/such.crt".to_owned()).unwrap();
    let pair = |key: &str| format!("sslcert={certificate}&sslkey={key}");
    for (query, words) in [
        ("sslrootcert=/no/such.crt".to_owned(), "sslrootcert /no/such.crt: there is no such file"),
        ("sslrootcert=/tmp".to_owned(), "sslrootcert /tmp: it is a folder"),
        (format!("sslrootcert={empty}"), "it has no certificate in PEM form"),
        (format!("sslrootcert={key}"), "it has no certificate in PEM form"),
        (format!("sslrootcert={broken}"), "broken: "),
        ("sslcert=/no/such.crt&sslkey=/no/such.key".to_owned(), "sslcert /no/such.crt: there is no such file"),
        (pair("/no/such.key"), "sslkey /no/such.key: there is no such file"),
        (pair(&certificate), "it has no private key in PEM form"),
        (pair(&other), "is not the key of sslcert"),
        (pair(&open), "other users may read it (0644)"),
        (pair(&encrypted), "it has a passphrase"),
        (pair(&old), "it has a passphrase"),
    ] {
        let error = checked(query.clone()).expect_err(&query).to_string();
        assert!(error.contains(words), "{query}: {error}");
    }
}

#[test]
fn no_builtin_authority_is_trusted() {
    assert!(webpki_roots::TLS_SERVER_ROOTS.is_empty(), "sqlx adds these to sslrootcert");
}
