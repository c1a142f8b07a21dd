use super::*;

fn given(variables: &[(&str, &str)]) -> Result<EnvironmentSettings> {
    read(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
}

/// The variables that Kubernetes sets in a pod if Services named `knowhow`, `knowhow-worker` and `knowhow-api` exist.
#[test]
fn variables_of_kubernetes_services_are_ignored() {
    let links = [
        ("KNOWHOW_API_PORT", "tcp://10.0.0.9:80"),
        ("KNOWHOW_API_SERVICE_PORT_HTTP", "80"),
        ("KNOWHOW_PORT", "tcp://10.0.0.7:8080"),
        ("KNOWHOW_PORT_8080_TCP", "tcp://10.0.0.7:8080"),
        ("KNOWHOW_PORT_8080_TCP_ADDR", "10.0.0.7"),
        ("KNOWHOW_PORT_8080_TCP_PORT", "8080"),
        ("KNOWHOW_PORT_8080_TCP_PROTO", "tcp"),
        ("KNOWHOW_SERVICE_HOST", "10.0.0.7"),
        ("KNOWHOW_SERVICE_PORT", "8080"),
        ("KNOWHOW_SERVICE_PORT_HTTP", "8080"),
        ("KNOWHOW_WORKER_SERVICE_HOST", "10.0.0.8"),
    ];
    let (table, ignored) = given(&links).unwrap();
    assert!(table.is_empty(), "{table}");
    assert_eq!(ignored, links.map(|(name, _)| name));
    // Variables that only resemble service links are rejected like any unknown setting.
    for (name, value) in [("KNOWHOW_PORTS", "tcp://x"), ("KNOWHOW_PORT", "http://x"), ("KNOWHOW_PORT_X_TCP", "1")] {
        assert!(given(&[(name, value)]).is_err(), "{name}");
    }
}

#[test]
fn settings_are_read_from_files() {
    let folder = std::env::temp_dir().join(format!("knowhow-settings-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("value");
    let path = file.to_str().unwrap();
    for (text, value) in [("s3cret\n", "s3cret"), ("s3cret\r\n", "s3cret"), (" a\nb\n\n", " a\nb\n")] {
        fs::write(&file, text).unwrap();
        let (table, _) = given(&[("KNOWHOW_CHAT_KEY_FILE", path)]).unwrap();
        assert_eq!(table["chat_key"].as_str(), Some(value));
    }
    fs::write(&file, "9090\n").unwrap();
    assert_eq!(given(&[("KNOWHOW_PORT_FILE", path)]).unwrap().0["port"].as_integer(), Some(9090));
    let twice = given(&[("KNOWHOW_PORT", "1"), ("KNOWHOW_PORT_FILE", path)]).unwrap_err();
    assert_eq!(twice.to_string(), "set KNOWHOW_PORT or KNOWHOW_PORT_FILE, not both");
    fs::remove_dir_all(&folder).unwrap();
    let missing = given(&[("KNOWHOW_CHAT_KEY_FILE", path)]).unwrap_err();
    assert!(missing.to_string().starts_with("cannot read the file of KNOWHOW_CHAT_KEY_FILE"), "{missing}");
    assert!(given(&[("KNOWHOW_NOTHING_FILE", path)]).unwrap_err().to_string().contains("is not a setting"));
}
