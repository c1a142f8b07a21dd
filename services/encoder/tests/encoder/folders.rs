//! Error messages for folders without a usable model.

use std::fs;
use std::path::{Path, PathBuf};

use knowhow_encoder::{Encoder, ModelError, Networks, TextKind};

use crate::{has_model, model_folder};

/// A copy of the model folder, with links to the large files. It is removed after the test.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("knowhow-encoder-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("1_Pooling")).unwrap();
        let source = model_folder();
        for file in ["config.json", "vocab.txt", "tokenizer.json", "1_Pooling/config.json"] {
            fs::copy(source.join(file), folder.join(file)).unwrap();
        }
        let weights = fs::canonicalize(source.join("model.safetensors")).unwrap();
        std::os::unix::fs::symlink(weights, folder.join("model.safetensors")).unwrap();
        Self(folder)
    }

    /// Adds the second network: a copy of its vocabulary and a link to its weights.
    fn with_muse(self) -> Self {
        self.tap(|folder| {
            let source = model_folder().join("muse");
            fs::create_dir(folder.join("muse")).unwrap();
            fs::copy(source.join("sentencepiece.model"), folder.join("muse/sentencepiece.model")).unwrap();
            let weights = fs::canonicalize(source.join("weights.safetensors")).unwrap();
            std::os::unix::fs::symlink(weights, folder.join("muse/weights.safetensors")).unwrap();
        })
    }

    fn with(self, file: &str, content: impl AsRef<[u8]>) -> Self {
        self.without(file).tap(|folder| fs::write(folder.join(file), content).unwrap())
    }

    fn without(self, file: &str) -> Self {
        self.tap(|folder| fs::remove_file(folder.join(file)).unwrap())
    }

    fn tap(self, act: impl FnOnce(&Path)) -> Self {
        act(&self.0);
        self
    }

    fn config(self, from: &str, to: &str) -> Self {
        let config = fs::read_to_string(self.0.join("config.json")).unwrap();
        assert!(config.contains(from));
        self.with("config.json", config.replace(from, to))
    }

    fn complaint(&self) -> String {
        let error = Encoder::open(&self.0, Networks::All).err().expect("it must not open");
        error.to_string()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn header(entries: &str, data: usize) -> Vec<u8> {
    let mut file = (entries.len() as u64).to_le_bytes().to_vec();
    file.extend(entries.as_bytes());
    file.resize(file.len() + data, 0);
    file
}

#[test]
fn a_missing_file_is_named() {
    if !has_model() {
        return;
    }
    let error = Encoder::open(Path::new("/nonexistent/model"), Networks::All).err().unwrap();
    assert!(matches!(&error, ModelError::Missing(path) if path.ends_with("model/config.json")), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("a model folder holds config.json, model.safetensors and vocab.txt or tokenizer.json")
    );
    for file in ["config.json", "model.safetensors"] {
        assert!(Copy::new(&format!("no-{file}")).without(file).complaint().contains(&format!("/{file} is missing")));
    }
    let folder = Copy::new("no-words").without("vocab.txt").without("tokenizer.json");
    assert!(folder.complaint().contains("/tokenizer.json is missing"));
}

#[test]
fn the_vocabulary_may_be_in_either_file() {
    if !has_model() {
        return;
    }
    let folder = Copy::new("json-words").without("vocab.txt");
    let encoder = Encoder::open(&folder.0, Networks::All).unwrap();
    assert_eq!(encoder.tokens("Hello, world!", TextKind::Message).ids(), [101, 7592, 1010, 2088, 999, 102]);
}

#[test]
fn models_with_an_unsupported_architecture_are_refused() {
    if !has_model() {
        return;
    }
    let cases = [
        (r#""hidden_act": "gelu""#, r#""hidden_act": "relu""#, r#"hidden_act is "relu", only "gelu" is supported"#),
        (r#""model_type": "bert""#, r#""model_type": "t5""#, r#"model_type is "t5""#),
        (r#""hidden_size": 384"#, r#""hidden_size": 385"#, "must be multiples of 16"),
        (r#""hidden_size": 384"#, r#""hidden_size": 0"#, "hidden_size is 0, must be 1 to 8192"),
        (r#""hidden_size": 384"#, r#""hidden_size": 768"#, "is F32 [30522, 384], must be F32 [30522, 768]"),
        (
            r#""num_hidden_layers": 6"#,
            r#""num_hidden_layers": 7"#,
            "encoder.layer.6.attention.self.query.weight is missing",
        ),
        (r#""vocab_size": 30522"#, r#""vocab_size": 30000"#, "more than the 30000 words"),
        (r#""layer_norm_eps": 1e-12"#, r#""layer_norm_eps": -1"#, "layer_norm_eps is -1"),
        (r#""hidden_size": 384,"#, "", "missing field `hidden_size`"),
    ];
    for (number, (from, to, complaint)) in cases.into_iter().enumerate() {
        let found = Copy::new(&format!("config-{number}")).config(from, to).complaint();
        assert!(found.contains(complaint), "{found}");
    }
    let pooling = Copy::new("pooling").with("1_Pooling/config.json", r#"{"pooling_mode_mean_tokens": false}"#);
    assert!(pooling.complaint().contains("only models that take the mean of the tokens"));
    assert!(
        Copy::new("words").with("vocab.txt", "[UNK]\n[CLS]\nhello\n").complaint().contains("the word [SEP] is missing")
    );
}

#[test]
fn damaged_weights_are_refused() {
    if !has_model() {
        return;
    }
    let name = "embeddings.word_embeddings.weight";
    let entry =
        |offsets: &str| format!(r#"{{"{name}":{{"dtype":"F32","shape":[30522,384],"data_offsets":{offsets}}}}}"#);
    let cases = [
        (b"short".to_vec(), "cut short"),
        (u64::MAX.to_le_bytes().to_vec(), "cut short"),
        (header("{", 0), "EOF"),
        (header("{}", 0), "word_embeddings.weight is missing"),
        (header(&entry("[0,4000]"), 100), "ends beyond the file"),
        (header(&entry("[90,10]"), 100), "ends beyond the file"),
        (header(&entry("[0,100]"), 100), "has 100 bytes, must have 46881792"),
        (header(&entry("[0,\"x\"]"), 100), "word_embeddings.weight: invalid type"),
        (header(&entry("[0,100]").replace("F32", "F16"), 100), "is F16"),
    ];
    for (number, (file, complaint)) in cases.into_iter().enumerate() {
        let found = Copy::new(&format!("weights-{number}")).with("model.safetensors", file).complaint();
        assert!(found.contains(complaint), "{complaint}: {found}");
    }
    let mut endless = header(&entry("[0,46881792]"), 46_881_792);
    let place = endless.len() - 8;
    endless[place..place + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let found = Copy::new("nan").with("model.safetensors", endless).complaint();
    assert!(found.contains("holds values that are no numbers"), "{found}");
}

#[test]
fn the_networks_in_the_folder_determine_the_name_of_the_vectors() {
    if !has_model() {
        return;
    }
    let name = |folder: &Copy, networks| Encoder::open(&folder.0, networks).unwrap().name();
    let minilm = Copy::new("minilm-alone");
    assert_eq!(name(&minilm, Networks::All), Some("all-MiniLM-L6-v2-centred"));
    let both = Copy::new("both").with_muse();
    assert_eq!(name(&both, Networks::All), Some("minilm-muse-384"));
    assert_eq!(name(&both, Networks::First), Some("all-MiniLM-L6-v2-centred"));
    let missing = Encoder::open(&both.0, Networks::EveryLanguage).err().unwrap().to_string();
    assert!(missing.ends_with("/e5 is missing; `python3 -m tools.model every-language` makes it"), "{missing}");
}

#[test]
fn a_model_with_changed_weights_has_no_known_name() {
    if !has_model() {
        return;
    }
    let mut weights = fs::read(model_folder().join("model.safetensors")).unwrap();
    let (header, _) = weights.split_at(8 + u64::from_le_bytes(*weights.first_chunk().unwrap()) as usize);
    let table: serde_json::Value = serde_json::from_slice(&header[8..]).unwrap();
    let offsets = &table["encoder.layer.5.output.dense.weight"]["data_offsets"];
    let at = header.len() + offsets[0].as_u64().unwrap() as usize;
    weights[at..at + 4].copy_from_slice(&0.5_f32.to_le_bytes());
    let folder = Copy::new("other-weights").with("model.safetensors", weights);
    let encoder = Encoder::open(&folder.0, Networks::All).unwrap();
    assert_eq!(encoder.name(), None);
    let vector = |kind| encoder.encode(&[encoder.tokens("the same vector for both", kind)], &mut || ());
    assert_eq!(vector(TextKind::Message), vector(TextKind::Document));
    let found = folder.with_muse().complaint();
    assert!(found.contains("only all-MiniLM-L6-v2 and multilingual-e5-small can be joined with muse"), "{found}");
}

#[test]
fn a_damaged_second_network_is_refused() {
    if !has_model() {
        return;
    }
    let cases: [(&str, Option<&[u8]>, &str); 5] = [
        ("weights.safetensors", None, "/muse/weights.safetensors is missing"),
        ("weights.safetensors", Some(b"short"), "cut short"),
        ("weights.safetensors", Some(b"\x02\0\0\0\0\0\0\0{}"), "tensor eps is missing"),
        ("sentencepiece.model", None, "/muse/sentencepiece.model is missing"),
        ("sentencepiece.model", Some(b"\xff\xff\xff"), "cut short or no SentencePiece model"),
    ];
    for (number, (file, content, complaint)) in cases.into_iter().enumerate() {
        let folder = Copy::new(&format!("muse-{number}")).with_muse().without(&format!("muse/{file}"));
        let folder = match content {
            Some(content) => folder.tap(|folder| fs::write(folder.join("muse").join(file), content).unwrap()),
            None => folder,
        };
        let found = folder.complaint();
        assert!(found.contains(complaint), "{complaint}: {found}");
    }
}
