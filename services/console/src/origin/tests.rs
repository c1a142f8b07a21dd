use actix_web::test::TestRequest;

use super::{Address, UnsafeAddress, check};

fn checked(address: &Address, host: &str) -> Result<(), UnsafeAddress> {
    address.check(&TestRequest::default().insert_header(("Host", host)).to_http_request())
}

const LOOPBACK: [&str; 5] = ["127.0.0.1:8080", "localhost", "localhost:9000", "[::1]:8080", "127.1.2.3"];

#[test]
fn plain_http_is_safe_on_loopback_alone() {
    let plain = [Address::of("", false), Address::of("http://know.example", false)];
    for host in LOOPBACK {
        assert!(plain.iter().all(|address| checked(address, host).is_ok()), "{host}");
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
        for address in &plain {
            assert_eq!(checked(address, host), Err(UnsafeAddress::Unencrypted), "{host}");
        }
    }
    let own_certificate = Address::of("", true);
    assert!(own_certificate.is_over_tls && checked(&own_certificate, "know.example").is_ok());
}

#[test]
fn an_https_public_url_is_the_only_address_but_loopback() {
    let other = |url: &str| Err(UnsafeAddress::OtherHost(url.to_owned()));
    let public = Address::of("HTTPS://know.example/", false);
    assert!(public.is_over_tls);
    for host in ["know.example", "Know.Example", "know.example:443"].into_iter().chain(LOOPBACK) {
        assert_eq!(checked(&public, host), Ok(()), "{host}");
    }
    for host in ["evil.example", "know.example:8443", "know.example.evil.example", "10.0.0.7", "x@know.example", ""] {
        assert_eq!(checked(&public, host), other("https://know.example"), "{host}");
    }
    let with_port = Address::of("https://know.example:8443", true);
    assert_eq!(checked(&with_port, "know.example:8443"), Ok(()));
    assert_eq!(checked(&with_port, "know.example"), other("https://know.example:8443"));
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
    for site in ["same-site", "cross-site", "none", ""] {
        assert!(!is_own(&[("Sec-Fetch-Site", site), ("Origin", "https://know.example")]), "{site}");
    }
    assert!(!is_own(&[("Origin", "https://know.example")]));
    assert!(!is_own(&[]));
}
