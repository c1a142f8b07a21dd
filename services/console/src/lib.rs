//! The console at `/console`: HTML pages for a browser. A page extracts its input, calls one operation and fills a
//! template. Every page and action works without JavaScript.

mod api_call;
mod cookie;
mod difference;
mod entry;
mod failure;
mod form;
mod layout;
mod link;
mod login_page;
mod origin;
mod pages;
mod respond;
mod routes;
mod shown;
mod typed;
mod visit;

pub use cookie::SessionCookie;
pub use entry::{Credential, Entry, Pending};
pub use origin::Address;
pub use routes::{Access, PATH, ROUTES, Route, configure};

/// The console of a process, shared by its threads.
pub struct Console {
    /// Entry of requests, with the limits that REST has.
    pub entry: Box<dyn Entry + Send + Sync>,
    /// Address of the service in a browser.
    pub address: Address,
}
