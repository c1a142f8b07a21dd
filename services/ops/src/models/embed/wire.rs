//! Request and response bodies of an OpenAI-compatible `/embeddings`.

use serde::{Deserialize, Serialize};

use super::Vectors;
use crate::models::remote::RemoteError;

/// The body of a request.
#[derive(Serialize)]
pub(super) struct EmbedRequest<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct EmbedResponse {
    data: Vec<EmbeddedText>,
}

#[derive(Deserialize)]
struct EmbeddedText {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl<'a> EmbedRequest<'a> {
    pub(super) fn new(model: &'a str, texts: &'a [String], dimensions: Option<usize>) -> Self {
        // Some servers reject empty texts.
        let input = texts.iter().map(|text| if text.is_empty() { " " } else { text }).collect();
        Self { model, input, encoding_format: "float", dimensions }
    }
}

/// Parses an answer: `count` vectors of finite numbers, in order, normalised to length 1.
pub(super) fn read_answer(body: &[u8], count: usize) -> Result<Vectors, RemoteError> {
    let answer: EmbedResponse = serde_json::from_slice(body).map_err(|error| RemoteError::unread(&error))?;
    if answer.data.len() != count {
        return Err(RemoteError::Unfit(format!("{} vectors for {count} texts", answer.data.len())));
    }
    let mut vectors = vec![Vec::new(); count];
    for (position, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(position);
        let place = vectors.get_mut(index).filter(|place| place.is_empty());
        let place = place.ok_or_else(|| RemoteError::Unfit(format!("the index {index} is invalid or occurs twice")))?;
        *place = unit(item.embedding)?;
    }
    Ok(vectors)
}

fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, RemoteError> {
    let length = vector.iter().map(|&number| f64::from(number).powi(2)).sum::<f64>().sqrt();
    if !length.is_normal() {
        return Err(RemoteError::Unfit("a vector without a direction".to_owned()));
    }
    for number in &mut vector {
        *number = (f64::from(*number) / length) as f32;
    }
    Ok(vector)
}
