//! A way to Postgres, or to another server, that counts round trips, can be cut and mended, and can stall.

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

/// Before an answer passes, as if Postgres were some way off, the service must have sent nothing for so many pauses in a row. What is
/// sent without waiting for an answer is sent by then, and counts as one round trip. Pauses are counted, not their time: a machine that
/// stands still for a moment lengthens one of them, and the service has the others yet to send.
const PAUSES: usize = 10;
const PAUSE: Duration = Duration::from_millis(1);

/// A way to the database; what goes through it is carried by threads of its own.
pub struct Wire {
    /// The database's URL by this way.
    pub url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    now: Mutex<Now>,
    flows: Condvar,
    watched: Option<&'static str>,
    /// Whether it stalls before these words pass for the first time.
    holds: bool,
    /// How long each part is on its way.
    delay: Duration,
}

#[derive(Default)]
struct Now {
    /// How often the service began to send after Postgres had.
    flights: usize,
    has_postgres_spoken: bool,
    /// How often the service sent the words that are watched for.
    seen: usize,
    is_stalled: bool,
    is_cut: bool,
    is_gone: bool,
    /// Behind which round trip it is cut, and whether the answer of that one passes.
    cut_behind: Option<(usize, bool)>,
    open: Vec<TcpStream>,
}

#[derive(Clone, Copy)]
enum From {
    Service,
    Postgres,
}

impl Wire {
    /// Opens one to the database of this URL.
    #[must_use]
    pub fn to(url: &str) -> Self {
        Self::open(url, State::default())
    }

    /// The same, which counts how often the service sends these words.
    #[must_use]
    pub fn watching(url: &str, words: &'static str) -> Self {
        Self::open(url, State { watched: Some(words), ..State::default() })
    }

    /// The same, which stalls before these words pass for the first time, until it is to [`Self::flow`].
    #[must_use]
    pub fn holding(url: &str, words: &'static str) -> Self {
        Self::open(url, State { watched: Some(words), holds: true, ..State::default() })
    }

    /// Opens one on which each part takes this long, as if Postgres were in another part of the world.
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

    /// The round trips of some work, and what it gave.
    pub async fn count<T>(&self, work: impl Future<Output = T>) -> (usize, T) {
        let before = self.flights();
        let done = work.await;
        (self.flights() - before, done)
    }

    /// The round trips so far.
    #[must_use]
    pub fn flights(&self) -> usize {
        self.state.now.lock().unwrap().flights
    }

    /// How often the words that it watches for were sent.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.state.now.lock().unwrap().seen
    }

    /// Breaks all connections off, as where the service is killed, and lets others begin.
    pub fn break_off(&self) {
        self.state.now.lock().unwrap().break_off();
    }

    /// Breaks all connections off, and lets none begin.
    pub fn cut(&self) {
        self.state.now.lock().unwrap().is_cut = true;
        self.break_off();
    }

    /// Cuts it behind so many more round trips: what would begin the next one does not arrive.
    pub fn cut_after(&self, flights: usize) {
        let mut now = self.state.now.lock().unwrap();
        now.cut_behind = Some((now.flights + flights, true));
    }

    /// The same, where the answer to the last of them is lost too.
    pub fn lose_answer_to(&self, flights: usize) {
        let mut now = self.state.now.lock().unwrap();
        now.cut_behind = Some((now.flights + flights, false));
    }

    /// Whether it is cut.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.state.now.lock().unwrap().is_cut
    }

    /// Mends it.
    pub fn mend(&self) {
        let mut now = self.state.now.lock().unwrap();
        (now.is_cut, now.cut_behind) = (false, None);
    }

    /// Lets nothing through, and says so to nobody.
    pub fn stall(&self) {
        self.state.now.lock().unwrap().is_stalled = true;
    }

    /// Lets through what has come meanwhile, and all that comes.
    pub fn flow(&self) {
        self.state.now.lock().unwrap().is_stalled = false;
        self.state.flows.notify_all();
    }

    /// Takes it away: from now on connections are refused, as where Postgres is not running.
    pub fn remove(&self) {
        self.state.now.lock().unwrap().is_gone = true;
        self.cut();
        let url: Url = self.url.parse().unwrap();
        let address = (url.host_str().unwrap(), url.port().unwrap());
        // The first connection wakes the listener, which is gone then.
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
            // An answer would wait for another one's acknowledgement.
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
            // Of an answer in several parts the first one has waited.
            if waited_behind.get() != sends.load(Ordering::SeqCst) {
                waited_behind.set(wait_until_quiet(&sends));
            }
            state.note(From::Postgres, sent);
        });
    }

    /// Counts what has come, once it may pass.
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
            From::Postgres => now.has_postgres_spoken = true,
            From::Service if now.has_postgres_spoken => {
                now.has_postgres_spoken = false;
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

/// Waits until nothing has been sent for some pauses; how often it was until then.
fn wait_until_quiet(sends: &AtomicUsize) -> usize {
    let (mut seen, mut quiet) = (sends.load(Ordering::SeqCst), 0);
    while quiet < PAUSES {
        thread::sleep(PAUSE);
        let now = sends.load(Ordering::SeqCst);
        (seen, quiet) = if now == seen { (seen, quiet + 1) } else { (now, 0) };
    }
    seen
}

/// Sends on each part that comes, once `pass` has let it and `delay` is over. Parts that come behind each other are on their way at the
/// same time.
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
