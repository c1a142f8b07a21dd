use super::*;

/// Parses a URL with these environment variables of libpq.
fn parse_with(url: &str, variables: &[(&str, &str)]) -> Result<DatabaseUrl> {
    DatabaseUrl::parse_in(url, |name| {
        variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
    })
}

fn parse(url: &str) -> DatabaseUrl {
    parse_with(url, &[]).unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn refusal(url: &str) -> String {
    parse_with(url, &[]).map(drop).expect_err(url).to_string()
}

fn endpoint(host: &str, port: u16) -> ServerAddress {
    ServerAddress { host: Host::Name(host.into()), address: None, port }
}

#[test]
fn each_sslmode_verifies_as_much_as_in_libpq() {
    use SslMode::{Allow, Disable, Prefer, Require, VerifyCa, VerifyFull};
    use Verification::{Authority, HostName, Nothing};
    for (query, mode, verification) in [
        ("", Prefer, Nothing),
        ("?sslmode=", Prefer, Nothing),
        ("?sslmode=disable", Disable, Nothing),
        ("?sslmode=allow", Allow, Nothing),
        ("?sslmode=prefer", Prefer, Nothing),
        ("?sslmode=require", Require, Nothing),
        ("?ssl=true", Require, Nothing),
        ("?sslmode=verify-ca", VerifyCa, Authority),
        ("?sslmode=verify-full", VerifyFull, HostName),
        ("?sslrootcert=/ca.pem", Prefer, Authority),
        ("?sslmode=allow&sslrootcert=/ca.pem", Allow, Authority),
        ("?sslmode=require&sslrootcert=/ca.pem", Require, Authority),
        ("?sslmode=verify-ca&sslrootcert=/ca.pem", VerifyCa, Authority),
        ("?sslrootcert=/ca.pem&sslmode=verify-full", VerifyFull, HostName),
        ("?sslrootcert=system", VerifyFull, HostName),
        ("?sslrootcert=system&sslmode=verify-full", VerifyFull, HostName),
        ("?sslmode=disable&sslmode=require", Require, Nothing),
        ("?ssl%6dode=require", Require, Nothing),
    ] {
        let tls = parse(&format!("postgres://me@db/x{query}")).tls;
        assert_eq!((tls.mode, tls.verification), (mode, verification), "{query}");
        let is_file = query.contains("/ca.pem");
        assert_eq!(tls.roots == Roots::File("/ca.pem".into()), is_file, "{query}");
    }
    let tls = parse("postgresql://me@db/x?sslcert=/a%20b.crt&sslkey=/a.key").tls;
    assert_eq!(tls.client, Some(ClientCertificate { certificate: "/a b.crt".into(), key: "/a.key".into() }));
}

#[test]
fn hosts_and_ports_are_paired() {
    for (url, expected) in [
        ("postgres://me@db/x", vec![endpoint("db", 5432)]),
        ("postgres://me@db:6543", vec![endpoint("db", 6543)]),
        ("postgres://me@[::1]:6543/x", vec![endpoint("::1", 6543)]),
        ("postgres://me@[::1]/x", vec![endpoint("::1", 5432)]),
        ("postgres://me@a:1,b:2,c/x", vec![endpoint("a", 1), endpoint("b", 2), endpoint("c", 5432)]),
        ("postgres://me@a,b/x?port=7", vec![endpoint("a", 7), endpoint("b", 7)]),
        ("postgres:///x?host=a,b&port=1,2&user=me", vec![endpoint("a", 1), endpoint("b", 2)]),
        ("postgres://me@ignored/x?host=b", vec![endpoint("b", 5432)]),
        ("postgres://me@my_db/x", vec![endpoint("my_db", 5432)]),
    ] {
        assert_eq!(parse(url).endpoints, expected, "{url}");
    }
    let folder = Host::Folder("/var/run/pg".into());
    for url in ["postgres://me@%2Fvar%2Frun%2Fpg/x", "postgres://me@/x?host=/var/run/pg"] {
        assert_eq!(parse(url).endpoints, [ServerAddress { host: folder.clone(), address: None, port: 5432 }], "{url}");
    }
    let with_address = parse("postgres://me@db/x?hostaddr=10.0.0.1&sslmode=verify-ca");
    assert_eq!(with_address.endpoints[0].address, Some([10, 0, 0, 1].into()));
    assert_eq!(with_address.endpoints[0].host, Host::Name("db".into()));
    assert_eq!(parse("postgres://me@/x?hostaddr=10.0.0.1").endpoints[0].host, Host::Name("10.0.0.1".into()));
}

#[test]
fn percent_encoded_texts_are_decoded() {
    let url = parse("postgres://m%40e:p%3Ass%2F%25@db/d%20b?application_name=a%26b");
    assert_eq!((url.user.as_str(), url.password.as_deref()), ("m@e", Some("p:ss/%")));
    assert_eq!((url.database.as_str(), url.application_name.as_deref()), ("d b", Some("a&b")));
    assert_eq!(parse("postgres://me:p@ss#word@db/x").password.as_deref(), Some("p@ss#word"));
    assert_eq!(parse("postgres://me:a+b@db/x").password.as_deref(), Some("a+b"), "a plus is a plus");
    assert_eq!(parse("postgres://me@db").database, "me", "without a name Postgres takes the role's");
    for (query, expected) in [
        ("options=-c%20geqo%3Doff", "-c geqo=off"),
        ("options=-c+geqo=off+-c+jit%3Doff", "-c geqo=off -c jit=off"),
        ("options=-c geqo=off", "-c geqo=off"),
        ("options=-c%20TimeZone=UTC%2B3", "-c TimeZone=UTC+3"),
        ("options=-c%20search_path%3Da%5C%20b", "-c search_path=a\\ b"),
    ] {
        assert_eq!(parse(&format!("postgres://me@db/x?{query}")).all_options().as_deref(), Some(expected), "{query}");
    }
}

#[test]
fn other_parameters_have_the_meaning_of_libpq() {
    let url = parse(
        "postgres://me@a,b/x?target_session_attrs=read-write&load_balance_hosts=random&connect_timeout=3&keepalives=0\
         &keepalives_idle=30&keepalives_interval=5&keepalives_count=2&tcp_user_timeout=4000&channel_binding=disable\
         &gssencmode=prefer&client_encoding=UTF8&sslnegotiation=postgres&sslsni=1&sslcompression=0&ssl_min_protocol_version=TLSv1.2",
    );
    assert_eq!((url.session, url.shuffles, url.binds_channel), (Session::ReadWrite, true, false));
    assert_eq!(url.connect_timeout, Some(Duration::from_secs(3)));
    let seconds = Duration::from_secs;
    let keepalive =
        Keepalive { is_on: false, idle: seconds(30), interval: seconds(5), count: 2, user_timeout: seconds(4) };
    assert_eq!(url.keepalive, keepalive);
    assert_eq!(parse("postgres://me@db?connect_timeout=0").connect_timeout, None, "0 is no limit");
    assert_eq!(url.within(seconds(4)).connect_timeout, Some(seconds(2)), "each of two hosts has half");
    for (word, session) in SESSIONS {
        assert_eq!(parse(&format!("postgres://me@db?target_session_attrs={word}")).session, session);
    }
}

#[test]
fn missing_parameters_are_taken_from_the_environment() {
    let variables = [
        ("PGHOST", "db"),
        ("PGPORT", "6543"),
        ("PGUSER", "me"),
        ("PGPASSWORD", "s"),
        ("PGDATABASE", "x"),
        ("PGSSLMODE", "require"),
        ("PGOPTIONS", "-c jit=off"),
        ("PGTARGETSESSIONATTRS", "primary"),
    ];
    let url = parse_with("postgres://", &variables).unwrap();
    assert_eq!((url.endpoints, url.user.as_str()), (vec![endpoint("db", 6543)], "me"));
    assert_eq!((url.password.as_deref(), url.database.as_str()), (Some("s"), "x"));
    assert_eq!((url.tls.mode, url.session), (SslMode::Require, Session::Primary));
    let url = parse_with("postgres://you@a:1/y?sslmode=disable&options=-c%20geqo=off", &variables).unwrap();
    assert_eq!((url.tls.mode, url.user.as_str()), (SslMode::Disable, "you"));
    assert_eq!(url.all_options().as_deref(), Some("-c jit=off -c geqo=off"), "both drivers send both");
    assert!(parse_with("postgres://me@db", &[("PGSSLMODE", "always")]).is_err());
    let (role, password) = DatabaseUrl::written_login("postgres://db/x").unwrap();
    assert_eq!((role, password), (None, None), "no login role is made of the environment");
}

#[test]
fn the_error_for_an_unusable_url_has_the_reason_but_not_the_password() {
    for (rest, expected) in [
        (
            "/x?sslmode=maybe",
            "sslmode=maybe is unknown; use one of: disable, allow, prefer, require, verify-ca, verify-full",
        ),
        ("/x?sslmode=REQUIRE", "sslmode=REQUIRE is unknown"),
        ("/x?ssl-mode=require", "the parameter 'ssl-mode' is unknown; known are: host"),
        ("/x?ssl=false", "ssl=false is unknown"),
        ("/x?sslmode", "a parameter lacks '='"),
        ("/x?sslcert=/a", "sslcert needs sslkey"),
        ("/x?sslkey=/a", "sslkey needs sslcert"),
        ("/x?sslpassword=5ec4e7", "the parameter sslpassword is not supported"),
        ("/x?passfile=/a", "PGPASSFILE"),
        ("/x?service=a", "the parameter service is not supported"),
        ("/x?sslcrl=/a", "the parameter sslcrl is not supported"),
        ("/x?channel_binding=require", "channel_binding=require is not supported"),
        ("/x?sslnegotiation=direct", "sslnegotiation=direct is not supported"),
        ("/x?gssencmode=require", "gssencmode=require is not supported"),
        ("/x?ssl_min_protocol_version=TLSv1.3", "ssl_min_protocol_version=TLSv1.3 is not supported"),
        ("/x?client_encoding=LATIN1", "client_encoding=LATIN1 is not supported"),
        ("/x?sslrootcert=system&sslmode=require", "sslrootcert=system needs sslmode=verify-full"),
        ("/x?hostaddr=10.0.0.1&sslmode=verify-full", "hostaddr cannot be used with sslmode=verify-full"),
        ("/x?hostaddr=db", "hostaddr=db is not an IP address"),
        ("/x?connect_timeout=soon", "connect_timeout=soon must be a whole number"),
        ("/x?connect_timeout=-1", "connect_timeout=-1 must be a whole number"),
        ("/x?keepalives=yes", "keepalives=yes is unknown; use one of: 0, 1"),
        ("/x?target_session_attrs=master", "target_session_attrs=master is unknown"),
        ("/x?port=1,2", "2 ports do not match 1 hosts"),
        (":99999/x", "a port must be 1 to 65535"),
        (":0/x", "a port must be 1 to 65535"),
        ("/x?options=%zz", "write a % in options as %25"),
        ("/x%00", "write a % in dbname as %25"),
    ] {
        let error = refusal(&format!("postgres://me:5ec4e7@db{rest}"));
        assert!(error.contains(expected) && !error.contains("5ec4e7"), "{rest}: {error}");
        assert!(error.contains("the database URL is not usable"), "{error}");
    }
    for url in ["", "nonsense", "host=db user=me", "mysql://me@db/x", "POSTGRES://me@db/x"] {
        assert!(refusal(url).contains("it must begin with postgres://"), "{url}");
    }
    let error = refusal("postgres://me:5e/c4e7@db/x");
    assert!(error.contains("%2F") && !error.contains("c4e7"), "{error}");
    assert!(refusal("postgres://me@[::1/x").contains("lacks its ']'"));
}

#[test]
fn neither_the_url_nor_its_parts_print_the_password() {
    assert!(!format!("{:?}", parse("postgres://me:5ec4e7@db/x")).contains("5ec4e7"));
}
