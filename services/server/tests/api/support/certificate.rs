//! Certificates of tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{CertificateParams, KeyPair};
use reqwest::{Certificate, Client};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A self-signed certificate for this machine, and its key.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Pair {
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        Self { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// Returns a client that trusts only this certificate and keeps no idle connections.
    pub fn client(&self) -> Client {
        let own = Certificate::from_pem(self.certificate.as_bytes()).unwrap();
        Client::builder().tls_certs_only([own]).pool_max_idle_per_host(0).build().unwrap()
    }

    /// Opens a port that terminates TLS and forwards to a plain-text server until the test ends.
    pub async fn before(&self, server: SocketAddr) -> TlsPort {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let opened = TlsPort { port: listener.local_addr().unwrap().port(), ..TlsPort::default() };
        let (trusted, refused) = (opened.trusted.clone(), opened.refused.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, trusted, refused) = (acceptor.clone(), trusted.clone(), refused.clone());
                tokio::spawn(async move {
                    let Ok(mut client) = acceptor.accept(client).await else {
                        refused.fetch_add(1, Ordering::Relaxed);
                        return;
                    };
                    trusted.fetch_add(1, Ordering::Relaxed);
                    let mut server = TcpStream::connect(server).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        opened
    }
}

/// A port that terminates TLS, with counts of its handshakes.
#[derive(Default)]
pub struct TlsPort {
    pub port: u16,
    /// Number of successful handshakes.
    pub trusted: Arc<AtomicUsize>,
    /// Number of failed handshakes, such as those of clients that do not trust the certificate.
    pub refused: Arc<AtomicUsize>,
}
