//! A proxy to Postgres or another server. It counts round trips, and tests can cut, restore and stall its
//! connections.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use url::Url;

use crate::poll;

/// Number of consecutive pauses without data from the service, after which the proxy forwards an answer. Everything
/// that the service sends without waiting for an answer thus counts as one round trip. Pauses are counted instead of
/// time, so that a slow machine does not change the count.
const PAUSES: usize = 10;
const PAUSE: Duration = Duration::from_millis(1);

/// A proxy to the database.
pub struct Wire {
    /// URL of the database through the proxy.
    pub url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    now: Mutex<Now>,
    flows: Condvar,
    watched: Option<&'static str>,
    /// Whether the proxy stalls before it forwards the text in `watched` for the first time.
    holds: bool,
    /// Delay for each piece of data.
    delay: Duration,
}

#[derive(Default)]
struct Now {
    /// Number of round trips ("flights") so far. A round trip begins when the service sends data after Postgres has
    /// answered.
    flights: usize,
    has_postgres_answered: bool,
    /// Number of times that the service sent the text in `watched`.
    seen: usize,
    is_stalled: bool,
    is_cut: bool,
    is_gone: bool,
    /// Number of round trips after which the proxy cuts the connections, and whether it forwards the answer to the
    /// last one.
    cut_behind: Option<(usize, bool)>,
    open: Vec<TcpStream>,
}

#[derive(Clone, Copy)]
enum From {
    Service,
    Postgres,
}

impl Wire {
    /// Opens a proxy to the database of this URL.
    #[must_use]
    pub fn to(url: &str) -> Self {
        Self::open(url, State::default())
    }

    /// Opens a proxy that counts how often the service sends the text `words`.
    #[must_use]
    pub fn watching(url: &str, words: &'static str) -> Self {
        Self::open(url, State { watched: Some(words), ..State::default() })
    }

    /// Opens a proxy that stalls before it forwards the text `words` for the first time, until [`Self::flow`] is
    /// called.
    #[must_use]
    pub fn holding(url: &str, words: &'static str) -> Self {
        Self::open(url, State { watched: Some(words), holds: true, ..State::default() })
    }

    /// Opens a proxy that delays all data, as if Postgres were far away.
    #[must_use]
    pub fn distant(url: &str, delay: Duration) -> Self {
        Self::open(url, State { delay, ..State::default() })
    }

    fn open(url: &str, state: State) -> Self {
        let mut url: Url = url.parse().unwrap();
        let target = (url.host_str().unwrap().to_owned(), url.port().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let state = Arc::new(state);
        let carrying = state.clone();
        thread::spawn(move || {
            for service in listener.incoming().flatten() {
                if carrying.now.lock().unwrap().is_gone {
                    break;
                }
                carrying.connect(service, &target.0, target.1);
            }
        });
        Self { url: url.into(), state }
    }

    /// Returns the number of round trips that a future causes, and its output.
    pub async fn count<T>(&self, work: impl Future<Output = T>) -> (usize, T) {
        let before = self.flights();
        let done = work.await;
        (self.flights() - before, done)
    }

    /// Returns the number of round trips ("flights") so far.
    #[must_use]
    pub fn flights(&self) -> usize {
        self.state.now.lock().unwrap().flights
    }

    /// Returns how often the service sent the watched text.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.state.now.lock().unwrap().seen
    }

    /// Closes all connections, as if the service were killed. The proxy accepts new ones.
    pub fn break_off(&self) {
        self.state.now.lock().unwrap().break_off();
    }

    /// Closes all connections and accepts no new ones.
    pub fn cut(&self) {
        self.state.now.lock().unwrap().is_cut = true;
        self.break_off();
    }

    /// Cuts all connections after `flights` more round trips. The request after that does not arrive.
    pub fn cut_after(&self, flights: usize) {
        let mut now = self.state.now.lock().unwrap();
        now.cut_behind = Some((now.flights + flights, true));
    }

    /// Cuts all connections after `flights` more round trips, before the answer to the last one is forwarded.
    pub fn lose_answer_to(&self, flights: usize) {
        let mut now = self.state.now.lock().unwrap();
        now.cut_behind = Some((now.flights + flights, false));
    }

    /// Returns whether the connections are cut.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.state.now.lock().unwrap().is_cut
    }

    /// Accepts connections again after a cut.
    pub fn mend(&self) {
        let mut now = self.state.now.lock().unwrap();
        (now.is_cut, now.cut_behind) = (false, None);
    }

    /// Stalls all data without closing connections.
    pub fn stall(&self) {
        self.state.now.lock().unwrap().is_stalled = true;
    }

    /// Forwards stalled and new data.
    pub fn flow(&self) {
        self.state.now.lock().unwrap().is_stalled = false;
        self.state.flows.notify_all();
    }

    /// Stops listening. New connections are refused, as if Postgres were not running.
    pub fn remove(&self) {
        self.state.now.lock().unwrap().is_gone = true;
        self.cut();
        let url: Url = self.url.parse().unwrap();
        let address = (url.host_str().unwrap(), url.port().unwrap());
        // A connection wakes the listener, which then stops.
        poll("the listener to be gone", || TcpStream::connect(address).is_err().then_some(()));
    }
}

impl State {
    fn connect(self: &Arc<Self>, service: TcpStream, host: &str, port: u16) {
        let mut now = self.now.lock().unwrap();
        if now.is_cut {
            return;
        }
        let postgres = TcpStream::connect((host, port)).unwrap();
        for end in [&service, &postgres] {
            // Without this option the kernel may keep an answer until the previous one is acknowledged.
            end.set_nodelay(true).unwrap();
            now.open.push(end.try_clone().unwrap());
        }
        drop(now);
        let sends = Arc::<AtomicUsize>::default();
        self.carry_to_postgres(service.try_clone().unwrap(), postgres.try_clone().unwrap(), sends.clone());
        self.carry_to_service(postgres, service, sends);
    }

    fn carry_to_postgres(self: &Arc<Self>, service: TcpStream, postgres: TcpStream, sends: Arc<AtomicUsize>) {
        let state = self.clone();
        carry(service, postgres, self.delay, move |sent| {
            sends.fetch_add(1, Ordering::SeqCst);
            state.note(From::Service, sent);
        });
    }

    fn carry_to_service(self: &Arc<Self>, postgres: TcpStream, service: TcpStream, sends: Arc<AtomicUsize>) {
        let state = self.clone();
        let waited_behind = Cell::new(0);
        carry(postgres, service, self.delay, move |sent| {
            // Only the first part of an answer waits until the service is quiet.
            if waited_behind.get() != sends.load(Ordering::SeqCst) {
                waited_behind.set(wait_until_quiet(&sends));
            }
            state.note(From::Postgres, sent);
        });
    }

    /// Waits while the proxy is stalled, counts the data, and cuts the connections if a cut is due.
    fn note(&self, from: From, sent: &[u8]) {
        let mut now = self.now.lock().unwrap();
        while now.is_stalled {
            now = self.flows.wait(now).unwrap();
        }
        if let (From::Service, Some(watched)) = (from, self.watched) {
            let is_sent = String::from_utf8_lossy(sent).contains(watched);
            now.seen += usize::from(is_sent);
            now.is_stalled = self.holds && is_sent && now.seen == 1;
        }
        while now.is_stalled {
            now = self.flows.wait(now).unwrap();
        }
        match from {
            From::Postgres => now.has_postgres_answered = true,
            From::Service if now.has_postgres_answered => {
                now.has_postgres_answered = false;
                now.flights += 1;
            }
            From::Service => {}
        }
        let is_over = now.cut_behind.is_some_and(|(last, is_answered)| match from {
            From::Service => now.flights > last,
            From::Postgres => !is_answered && now.flights >= last,
        });
        if is_over {
            now.is_cut = true;
            now.break_off();
        }
    }
}

impl Now {
    fn break_off(&mut self) {
        for stream in self.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Waits until the service has been silent for `PAUSES` pauses. Returns how often it has sent data until then.
fn wait_until_quiet(sends: &AtomicUsize) -> usize {
    let (mut seen, mut quiet) = (sends.load(Ordering::SeqCst), 0);
    while quiet < PAUSES {
        thread::sleep(PAUSE);
        let now = sends.load(Ordering::SeqCst);
        (seen, quiet) = if now == seen { (seen, quiet + 1) } else { (now, 0) };
    }
    seen
}

/// Forwards each piece of data after `pass` has returned and `delay` has elapsed. The delays of consecutive pieces
/// overlap.
fn carry(mut source: TcpStream, mut target: TcpStream, delay: Duration, pass: impl Fn(&[u8]) + Send + 'static) {
    let (send, sent) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = source.read(&mut bytes) {
            pass(&bytes[..length]);
            if send.send((Instant::now() + delay, bytes[..length].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, part) in sent {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if target.write_all(&part).is_err() {
                break;
            }
        }
        let _ = target.shutdown(Shutdown::Both);
    });
}
