use super::*;

#[test]
fn modes_of_libpq_are_understood_and_taken_off() {
    let read = |query: &str| Settings::take_from(&format!("postgres://me:p%40ss@host:5432/db{query}"));
    let full = read("?sslmode=verify-full&sslrootcert=/ca.pem&connect_timeout=3").unwrap();
    assert_eq!(full.url, "postgres://me:p%40ss@host:5432/db?connect_timeout=3");
    assert_eq!((full.mode, full.root_certificate.as_deref()), (SslMode::Require, Some("/ca.pem")));
    assert_eq!(read("").unwrap().mode, SslMode::Prefer);
    assert_eq!(read("?sslmode=disable").unwrap().mode, SslMode::Disable);
    assert!(read("?sslmode=maybe").is_err());
}

#[test]
fn a_root_certificate_that_is_not_there_is_named() {
    let settings = Settings::take_from("postgres://me@host/db?sslrootcert=/no/such.pem").unwrap();
    assert!(settings.client().unwrap_err().to_string().contains("/no/such.pem"));
}
