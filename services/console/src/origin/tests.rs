use actix_web::test::TestRequest;

use super::{Address, check};

#[test]
fn plain_http_is_safe_on_loopback_alone() {
    let is_safe = |public_url: &str, host: &str| {
        let request = TestRequest::default().insert_header(("Host", host)).to_http_request();
        Address::of(public_url, false).is_safe(&request)
    };
    for host in ["127.0.0.1:8080", "localhost", "localhost:9000", "[::1]:8080", "127.1.2.3"] {
        assert!(is_safe("", host), "{host}");
    }
    for host in [
        "know.example",
        "10.0.0.7:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "evil@127.0.0.1",
        "evil/127.0.0.1",
    ] {
        assert!(!is_safe("http://know.example", host), "{host}");
        assert!(is_safe("HTTPS://know.example", host), "{host}");
    }
}

#[test]
fn a_form_names_its_own_origin() {
    let is_own = |headers: &[(&str, &str)]| {
        let request =
            headers.iter().fold(TestRequest::default().insert_header(("Host", "know.example")), |request, header| {
                request.insert_header((header.0, header.1))
            });
        check(&request.to_http_request()).is_ok()
    };
    assert!(is_own(&[("Sec-Fetch-Site", "same-origin")]));
    assert!(is_own(&[("Origin", "https://know.example")]));
    for site in ["same-site", "cross-site", "none", ""] {
        assert!(!is_own(&[("Sec-Fetch-Site", site), ("Origin", "https://know.example")]), "{site}");
    }
    for origin in ["null", "https://know.example.evil", "https://know.example:444", "know.example"] {
        assert!(!is_own(&[("Origin", origin)]), "{origin}");
    }
    assert!(!is_own(&[]));
}
