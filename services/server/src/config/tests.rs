use std::collections::BTreeSet;

use super::*;

fn load(file: &str, environment: &[(&str, &str)]) -> Result<Config> {
    Config::from_parts(file, environment.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect())
}

#[test]
fn environment_variables_override_the_file() {
    let config = load("port = 1\nbind = '::1'", &[("KNOWHOW_PORT", "2"), ("PATH", "/bin")]).unwrap();
    assert_eq!((config.port, config.bind.as_str()), (2, "::1"));
}

#[test]
fn errors_name_unknown_keys_and_invalid_values() {
    assert!(load("prot = 1", &[]).is_err());
    let error = load("", &[("KNOWHOW_PROT", "1")]).unwrap_err();
    assert!(error.to_string().contains("KNOWHOW_PROT"));
    let error = load("", &[("KNOWHOW_PORT", "many")]).unwrap_err();
    assert_eq!(error.to_string(), "KNOWHOW_PORT must be a whole number, is 'many'");
    let error = load("", &[("KNOWHOW_PORT", "70000")]).unwrap_err();
    assert_eq!(error.to_string(), "KNOWHOW_PORT must be a whole number from 0 to 65535, is '70000'");
    let error = load("", &[("KNOWHOW_WORKERS", "-1")]).unwrap_err();
    assert_eq!(error.to_string(), "KNOWHOW_WORKERS must be a whole number 0 or more, is '-1'");
    let error = load("", &[("KNOWHOW_DOCS", "no")]).unwrap_err();
    assert_eq!(error.to_string(), "KNOWHOW_DOCS must be true or false, is 'no'");
    assert!(load("", &[("KNOWHOW_TOKEN", "x"), ("KNOWHOW_PG_PORT", "x")]).is_ok());
}

/// Returns the names of the settings in a deployment file, in lower case and without `KNOWHOW_`.
fn named_in(text: &str, is_name: impl Fn(&str) -> Option<&str>) -> BTreeSet<String> {
    let names = text.lines().filter_map(is_name).filter_map(|name| name.strip_prefix("KNOWHOW_"));
    names.map(str::to_lowercase).collect()
}

#[test]
fn deployment_files_list_every_setting() {
    let all: BTreeSet<String> =
        toml::Table::try_from(Config::default()).unwrap().into_iter().map(|(key, _)| key).collect();
    let example = include_str!("../../../../deploy/env.example");
    let named = named_in(example, |line| Some(line.trim_start_matches("# ").split_once('=')?.0));
    assert_eq!(named, all, "deploy/env.example");
    // The image sets `bind`, `port` and `log_format`. The command of a container decides whether it runs jobs.
    let set_elsewhere = ["bind", "port", "log_format", "with_worker"].map(str::to_owned);
    let passed_on = named_in(include_str!("../../../../deploy/compose.yaml"), |line| {
        line.strip_prefix("  ").and_then(|line| line.split_once(": ${")).map(|(name, _)| name)
    });
    let expected: BTreeSet<String> = all.iter().filter(|key| !set_elsewhere.contains(key)).cloned().collect();
    assert_eq!(passed_on, expected, "deploy/compose.yaml");
}

/// By default Docker kills a container 10 s after SIGTERM, but the service may need longer to drain.
#[test]
fn compose_grace_period_exceeds_the_shutdown_time() {
    let Config { drain_s, shutdown_timeout_s, .. } = Config::default();
    let grace = format!("stop_grace_period: {}s", drain_s + shutdown_timeout_s + 5);
    assert_eq!(
        include_str!("../../../../deploy/compose.yaml").matches(&grace).count(),
        2,
        "service and worker: {grace}"
    );
}

#[test]
fn the_example_of_settings_is_valid() {
    let example = include_str!("../../../../deploy/env.example");
    let lines = example.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let given: BTreeMap<String, String> = lines.map(|(name, value)| (name.into(), value.into())).collect();
    Config::from_parts("", given).unwrap();
}

#[test]
fn worker_settings_of_zero_are_rejected() {
    let worker = |name, value| load("database_url = 'postgres://x'", &[(name, value)]).unwrap().worker();
    assert_eq!(worker("KNOWHOW_WORKER_CONCURRENCY", "7").unwrap().concurrency, 7);
    for name in ["KNOWHOW_WORKER_CONCURRENCY", "KNOWHOW_WORKER_RECOVERY_S"] {
        assert!(worker(name, "0").unwrap_err().to_string().contains(name));
    }
}

#[test]
fn default_rates_above_the_limit_are_rejected() {
    let rates = |name: &str, value: &str| load("", &[(name, value)]).unwrap().rates();
    for of in ["TENANT", "USER", "KEY", "ANONYMOUS"] {
        let name = format!("KNOWHOW_{of}_REQUESTS_PER_SECOND");
        assert!(rates(&name, "1000000").is_ok());
        assert!(rates(&name, "1000001").unwrap_err().to_string().contains(&name));
    }
}

#[test]
fn secrets_are_masked() {
    let config = load(
        "",
        &[
            ("KNOWHOW_SECRET_KEY", "5ec4e7"),
            ("KNOWHOW_SECRET_KEY_PREVIOUS", "5ec4e7"),
            ("KNOWHOW_OPERATOR_SECRET", "5ec4e7"),
            ("KNOWHOW_EMBEDDINGS_KEY", "5ec4e7"),
            ("KNOWHOW_CHAT_KEY", "5ec4e7"),
            ("KNOWHOW_CHAT_URL", "https://me:5ec4e7@host/v1?5ec4e7"),
            ("KNOWHOW_EMBEDDINGS_URL", "https://host/v1?api-key=5ec4e7&version=5ec4e7=="),
            ("KNOWHOW_DATABASE_URL", "postgres://me:5ec4e7@host/db?password=5ec4e7"),
        ],
    )
    .unwrap();
    let shown = config.masked().unwrap();
    let printed = format!("{config:?} {:?} {:?}", config.database().unwrap(), config.worker().unwrap());
    assert!(!shown.contains("5ec4e7") && !printed.contains("5ec4e7"), "{shown}{printed}");
    for url in [
        "postgres://me:***@host/db?password=***",
        "https://host/v1?api-key=***&version=***",
        "https://me:***@host/v1?***",
    ] {
        assert!(shown.contains(url), "{shown}");
    }
    for url in [
        "postgres://me:5ec4e7@a:1,b:2/db?sslkey=5ec4e7",
        "postgres://me:5ec/4e7@host/db",
        "postgres://me:5ec?4e7@host/db",
    ] {
        let shown = load("", &[("KNOWHOW_DATABASE_URL", url)]).unwrap().masked().unwrap();
        assert!(!shown.contains("5ec"), "{shown}");
    }
    let plain = [("KNOWHOW_CHAT_URL", "http://host"), ("KNOWHOW_DATABASE_URL", "postgres:///db")];
    let shown = load("", &plain).unwrap().masked().unwrap();
    assert!(plain.iter().all(|(_, url)| shown.contains(&format!("\"{url}\""))), "as it was given: {shown}");
}

#[test]
fn errors_about_models_name_the_setting() {
    let models = |settings: &[(&str, &str)]| load("", settings).unwrap().models();
    let none = models(&[]).unwrap();
    assert!(none.folder.is_none() && none.embeddings.is_none() && none.chat.is_none() && none.threads > 0);
    let (url, name) = (("KNOWHOW_EMBEDDINGS_URL", "http://localhost/v1"), ("KNOWHOW_EMBEDDINGS_MODEL", "m"));
    let (server, dims) = models(&[url, name, ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "384")]).unwrap().embeddings.unwrap();
    assert_eq!((server.url.as_str(), server.model.as_str(), server.key, dims), (url.1, "m", None, 384));
    for (settings, named) in [
        (&[url][..], "KNOWHOW_EMBEDDINGS_MODEL"),
        (&[name], "KNOWHOW_EMBEDDINGS_URL"),
        (&[url, name], "KNOWHOW_EMBEDDINGS_DIMENSIONS"),
        (&[("KNOWHOW_CHAT_KEY", "5ec4e7")], "KNOWHOW_CHAT_URL"),
        (&[("KNOWHOW_CHAT_URL", "5ec4e7")], "KNOWHOW_CHAT_URL must be the base"),
        (&[("KNOWHOW_CHAT_URL", "ftp://a/")], "KNOWHOW_CHAT_URL must begin with http"),
        (&[("KNOWHOW_CHAT_URL", "http://5ec4e7@a/")], "KNOWHOW_CHAT_KEY"),
        (
            &[("KNOWHOW_CHAT_URL", "http://a"), ("KNOWHOW_CHAT_MODEL", "m"), ("KNOWHOW_CHAT_TIMEOUT_MS", "0")],
            "CHAT_TIMEOUT",
        ),
    ] {
        let error = format!("{:#}", models(settings).err().unwrap());
        assert!(error.contains(named) && !error.contains("5ec4e7"), "{error}");
    }
}

#[test]
fn the_secret_key_requires_at_least_32_hex_bytes() {
    let secret = |key: &str| load("", &[("KNOWHOW_SECRET_KEY", key)]).unwrap().secret();
    assert_eq!(secret(&"ab".repeat(32)).unwrap(), vec![0xab; 32]);
    for bad in ["", &"ab".repeat(31), &"zz".repeat(32), &format!("{}a", "ab".repeat(32)), "é"] {
        assert!(secret(bad).is_err(), "{bad}");
    }
}
