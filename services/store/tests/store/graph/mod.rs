//! The graph of skills and memories.

mod cost_graph;
mod relate;
