use super::*;

#[test]
fn an_address_has_only_a_scheme_host_port_and_path() {
    for (text, address) in [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("https://knowhow.example/", "https://knowhow.example"),
        ("https://[::1]:8443/skills//", "https://[::1]:8443/skills"),
    ] {
        assert_eq!(parse(text).unwrap(), address);
    }
}

#[test]
fn an_address_with_secrets_is_rejected_without_quoting_it() {
    for text in [
        "http://me:s3cret@host",
        "http://s3cret@host",
        "http://:s3cret@host",
        "https://host/?token=s3cret",
        "https://host/#s3cret",
        "http://me:s3cret@host:99999",
        "http://me:s3 cret@/",
        "ftp://me:s3cret@host",
        "s3cret",
        "me:s3cret@host",
        "",
    ] {
        let error = format!("{:#}", parse(text).unwrap_err());
        assert!(error.contains("KNOWHOW_URL") && !error.contains("cret"), "{text}: {error}");
    }
}

#[test]
fn an_address_is_shown_without_secrets() {
    let url = Url::parse("https://me:s3cret@host:8443/path?token=s3cret#s3cret").unwrap();
    assert_eq!(shown(&url), "https://host:8443/path");
    assert_eq!(shown(&Url::parse("data:s3cret").unwrap()), "data:");
}
