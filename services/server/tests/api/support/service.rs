//! The service under test, as the real binary. Most tests share one process. Tests that kill or configure a process
//! start their own.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use knowhow_testing::{PATIENCE, poll, poll_async};
use serde_json::Value;

use crate::raw;

/// Maximum time for a worker to stop before it is killed.
const PARTING: Duration = Duration::from_secs(10);

/// A running `knowhow serve`, or a `knowhow worker`, which has no address.
pub struct Service {
    process: Child,
    watchdog: Child,
    log: PathBuf,
    told: AtomicUsize,
    /// `http://127.0.0.1:port`.
    pub url: String,
    /// `127.0.0.1:port`.
    pub address: String,
}

/// Returns the process that most tests use. It ends with the test process.
pub fn shared() -> &'static Service {
    static SHARED: OnceLock<Service> = OnceLock::new();
    SHARED.get_or_init(|| Service::start(&[]))
}

/// Returns a second process on the same database, which creates the tenants. A process caches tenants for a moment,
/// so the process under test must not see an incomplete one. This process accepts only issuers in public networks.
pub fn keeper() -> &'static Service {
    static KEEPER: OnceLock<Service> = OnceLock::new();
    KEEPER.get_or_init(|| {
        Service::start(&[
            ("KNOWHOW_WORKERS", "1"),
            ("KNOWHOW_WRITE_CONNECTIONS", "4"),
            ("KNOWHOW_PRIVATE_ISSUERS", "false"),
        ])
    })
}

impl Service {
    /// Starts a process with additional settings and waits until it is ready.
    pub fn start(settings: &[(&str, &str)]) -> Self {
        migrated();
        let mut service = Self::spawn("serve", settings, address_in);
        poll("the service to be ready", || {
            let exited = service.process.try_wait().unwrap();
            assert!(exited.is_none(), "the service exited with {exited:?}: {}", service.log());
            raw::try_get(&service.address, "/readyz").is_some_and(|answer| answer.status == 200).then_some(())
        });
        service
    }

    /// Starts a process that does not answer plain HTTP, and waits until it listens.
    pub fn listen(settings: &[(&str, &str)]) -> Self {
        migrated();
        Self::spawn("serve", settings, address_in)
    }

    /// Starts a worker and waits until it runs jobs.
    pub fn work(settings: &[(&str, &str)]) -> Self {
        migrated();
        Self::spawn("worker", settings, |line| line.contains("running jobs").then(String::new))
    }

    fn spawn(verb: &str, settings: &[(&str, &str)], is_up: fn(&str) -> Option<String>) -> Self {
        let log = scratch("service.log");
        let mut command = knowhow(&[verb]);
        command.envs(settings.iter().copied());
        let mut process = command.stderr(std::fs::File::create(&log).unwrap()).stdin(Stdio::null()).spawn().unwrap();
        let watchdog = watch(process.id());
        let address = poll("the service to listen", || {
            let text = std::fs::read_to_string(&log).unwrap();
            let exited = process.try_wait().unwrap();
            assert!(exited.is_none(), "the service exited with {exited:?}: {text}");
            text.lines().find_map(is_up)
        });
        Self { process, watchdog, log, told: AtomicUsize::new(0), url: format!("http://{address}"), address }
    }

    /// Returns the id of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the address of metrics and health, `127.0.0.1:port`. The settings must enable it.
    pub fn metrics_address(&self) -> String {
        poll("the address of metrics", || {
            let address_of = |line: &str| {
                let record: Value = serde_json::from_str(line).ok()?;
                Some(record.get("metrics")?.as_str()?.to_owned())
            };
            self.log().lines().find_map(address_of)
        })
    }

    /// Returns the log so far. The service writes lines with a delay of a few milliseconds.
    pub fn log(&self) -> String {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Returns the errors and panics that were logged since the last call.
    pub fn errors(&self) -> Vec<String> {
        let is_error = |line: &&str| line.contains(r#""level":"ERROR""#) || line.contains("panicked at");
        let all: Vec<String> = self.log().lines().filter(is_error).map(str::to_owned).collect();
        let told = self.told.swap(all.len(), Ordering::SeqCst);
        all.into_iter().skip(told).collect()
    }

    /// Asserts that no errors were logged since the last check.
    pub fn check_log(&self) {
        let errors = self.errors();
        if std::thread::panicking() {
            eprintln!("the service logged errors: {errors:#?}");
        } else {
            assert!(errors.is_empty(), "the service logged errors: {errors:#?}");
        }
    }

    /// Sends SIGTERM to the process.
    pub fn terminate(&self) {
        let done = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits until the process has ended, for at most `most`.
    pub fn wait(&mut self, most: Duration) -> ExitStatus {
        let began = Instant::now();
        poll("the service to end", || {
            let ended = self.process.try_wait().unwrap();
            assert!(ended.is_some() || began.elapsed() < most, "the service still runs: {}", self.log());
            ended
        })
    }
}

impl Drop for Service {
    /// Terminates a worker before killing it, because it may have jobs of other tests' users. A job of a killed
    /// worker waits for 10 s or more and counts an attempt that its test does not expect.
    fn drop(&mut self) {
        let is_worker = self.address.is_empty();
        if is_worker && matches!(self.process.try_wait(), Ok(None)) {
            self.terminate();
            let deadline = Instant::now() + PARTING;
            while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.check_log();
    }
}

/// Starts a shell that kills the service when this process ends and the pipe closes.
fn watch(service: u32) -> Child {
    Command::new("sh")
        .args(["-c", "read -r _; kill -9 \"$1\" 2>/dev/null", "watchdog", &service.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn address_in(line: &str) -> Option<String> {
    let record: Value = serde_json::from_str(line).ok()?;
    Some(record.get("address")?.as_str()?.to_owned())
}

/// Returns a command of the binary with the tests' settings and no other variables `KNOWHOW_*`.
pub fn knowhow(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knowhow"));
    for name in environment().keys().filter(|name| name.starts_with("KNOWHOW_")) {
        command.env_remove(name);
    }
    command.args(arguments).envs(settings());
    command
}

fn settings() -> [(&'static str, String); 18] {
    [
        ("DATABASE_URL", owner_url().into()),
        ("KNOWHOW_DATABASE_URL", login_url()),
        ("KNOWHOW_SECRET_KEY", secret_key().to_owned()),
        ("KNOWHOW_PORT", "0".to_owned()),
        ("KNOWHOW_WORKERS", "2".to_owned()),
        ("KNOWHOW_WRITE_CONNECTIONS", "6".to_owned()),
        ("KNOWHOW_READ_CONNECTIONS", "3".to_owned()),
        ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "20000".to_owned()),
        ("KNOWHOW_QUEUE_LENGTH", "10000".to_owned()),
        ("KNOWHOW_QUEUE_WAIT_MS", "20000".to_owned()),
        ("KNOWHOW_PRIVATE_ISSUERS", "true".to_owned()),
        ("KNOWHOW_DRAIN_S", "0".to_owned()),
        // Tests kill workers that may have jobs of other tests. These jobs must be retried before their tests give
        // up.
        ("KNOWHOW_WORKER_RECOVERY_S", "10".to_owned()),
        ("KNOWHOW_WRONG_CREDENTIALS_PER_MINUTE", "0".to_owned()),
        ("KNOWHOW_TENANT_REQUESTS_PER_SECOND", "0".to_owned()),
        ("KNOWHOW_USER_REQUESTS_PER_SECOND", "0".to_owned()),
        ("KNOWHOW_KEY_REQUESTS_PER_SECOND", "0".to_owned()),
        ("KNOWHOW_ANONYMOUS_REQUESTS_PER_SECOND", "0".to_owned()),
    ]
}

/// Runs the binary with these arguments and waits until it exits. The test database is migrated first.
pub fn run(arguments: &[&str]) -> Output {
    migrated();
    knowhow(arguments).output().unwrap()
}

/// Runs the binary, asserts success and returns its output without the final line break.
pub fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Returns the token of an operator.
pub fn operator_token() -> &'static str {
    static TOKEN: OnceLock<String> = OnceLock::new();
    TOKEN.get_or_init(|| printed(&["token", "--operator", "--user", "root"]))
}

/// Migrates the tests' database once.
pub fn migrated() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let output = knowhow(&["migrate"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    });
}

#[expect(clippy::disallowed_methods, reason = "the settings of the tests, which have no configuration of their own")]
fn environment() -> BTreeMap<String, String> {
    std::env::vars().collect()
}

/// Returns an environment variable of the tests, unless it is empty.
pub fn setting(name: &str) -> Option<String> {
    environment().remove(name).filter(|value| !value.is_empty())
}

/// Returns the owner's URL of the tests' database.
pub fn owner_url() -> url::Url {
    let given = environment().remove("DATABASE_URL");
    let given = given.expect("these tests need a database: run them with scripts/dev/test.sh, or set DATABASE_URL");
    given.parse().expect("DATABASE_URL is not a URL")
}

/// Returns the URL with which the service logs in to the tests' database.
pub fn login_url() -> String {
    login_url_of(owner_url())
}

/// Returns the URL with which the service logs in to the database with this owner's URL.
pub fn login_url_of(mut url: url::Url) -> String {
    let password = environment().remove("KNOWHOW_LOGIN_PASSWORD");
    let password = password.expect(
        "these tests need the password of the role knowhow_login: run them with scripts/dev/test.sh, or set \
         KNOWHOW_LOGIN_PASSWORD",
    );
    url.set_username("knowhow_login").unwrap();
    url.set_password(Some(&password)).unwrap();
    url.into()
}

fn secret_key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let mut bytes = [0; 32];
        aws_lc_rs::rand::fill(&mut bytes).unwrap();
        hex::encode(bytes)
    })
}

/// Returns a unique path for a file or folder below the build folder.
pub fn scratch(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static SWEPT: OnceLock<()> = OnceLock::new();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR"));
    SWEPT.get_or_init(|| sweep(home));
    let folder = home.join(format!("api-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{count}-{name}"))
}

/// Removes the folders of test runs that are more than an hour old.
fn sweep(home: &Path) {
    let is_old = |entry: &DirEntry| {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
        age.is_some_and(|age| age > Duration::from_secs(3600))
    };
    for entry in std::fs::read_dir(home).into_iter().flatten().flatten().filter(is_old) {
        if entry.file_name().to_string_lossy().starts_with("api-") {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes a file in the scratch folder and returns its path.
pub fn scratch_file(name: &str, content: &[u8]) -> PathBuf {
    let path = scratch(name);
    std::fs::File::create(&path).unwrap().write_all(content).unwrap();
    path
}
