"""The weights of mUSE, from numpy's archive to a safetensors file. Reads numbers only: nothing is unpickled or run."""

import ast
import json
import shutil
import struct
import zipfile

MAGIC = b"\x93NUMPY"
DTYPES = {"<f4": "F32", "|u1": "U8"}


def header_of(member):
    """Reads the header of one array: its type, its shape."""
    magic = member.read(8)
    if magic[:6] != MAGIC:
        raise ValueError(f"{member.name} is no array of numpy")
    length = struct.unpack("<H", member.read(2))[0] if magic[6] == 1 else struct.unpack("<I", member.read(4))[0]
    header = ast.literal_eval(member.read(length).decode("latin-1"))
    if header["fortran_order"]:
        raise ValueError(f"{member.name} is stored by columns")
    return header["descr"], list(header["shape"])


def convert(source, target):
    """Writes the arrays of an archive to a safetensors file, one by one."""
    with zipfile.ZipFile(source) as archive, open(target, "wb") as out:
        table, at, eps = {}, 0, None
        for name in sorted(archive.namelist()):
            with archive.open(name) as member:
                dtype, shape = header_of(member)
                if name == "eps.npy":
                    eps = struct.pack("<f", struct.unpack("<d", member.read())[0])
                    dtype, shape = "<f4", [1]
            if dtype in DTYPES:
                size = {"F32": 4, "U8": 1}[DTYPES[dtype]]
                for length in shape:
                    size *= length
                table[name.removesuffix(".npy")] = {"dtype": DTYPES[dtype], "shape": shape, "data_offsets": [at, at + size]}
                at += size
        header = json.dumps(table).encode()
        out.write(struct.pack("<Q", len(header)) + header)
        for name in table:
            with archive.open(f"{name}.npy") as member:
                header_of(member)
                if name == "eps":
                    out.write(eps)
                else:
                    shutil.copyfileobj(member, out, 1 << 20)
