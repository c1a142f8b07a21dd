//! The console: login, sessions, forms and pages, as a browser sees them.

mod dreams;
mod forms;
mod hostile;
mod logins;
mod pages;
mod reviews;
mod skills;
mod tenant;
mod viewing;
mod visitor;
mod walk;
