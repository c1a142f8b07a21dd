/** Folders as tar archives. A tar has sequences of a header of 512 bytes and a file, which is padded to 512 bytes. */
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const BLOCK = 512;
const KINDS = { file: "0", link: "2", longName: "L" } as const;
const LEFT_OUT = new Set([".git", "node_modules", "__pycache__", ".venv"]);

/** Packs a folder into a tar.gz. Links are packed as links, which an import reports and leaves out. */
export async function packFolder(folder: string): Promise<Blob> {
  const root = resolve(folder);
  const names = await readdir(root);
  const blocks: Block[] = [];
  // A skill is named by its folder, so the folder of a single skill is part of the paths.
  await pack(root, names.some((name) => name.toLowerCase() === "skill.md") ? `${basename(root)}/` : "", blocks);
  blocks.push(new Uint8Array(2 * BLOCK));
  const packed = new Blob(blocks).stream().pipeThrough(new CompressionStream("gzip"));
  return new File([await new Response(packed).blob()], "skills.tar.gz", { type: "application/gzip" });
}

async function pack(folder: string, prefix: string, blocks: Block[]): Promise<void> {
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const [path, name] = [join(folder, entry.name), prefix + entry.name];
    if (LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory()) await pack(path, `${name}/`, blocks);
    else if (entry.isSymbolicLink()) blocks.push(...record(name, { kind: KINDS.link, link: await readlink(path) }));
    else if (entry.isFile()) {
      const isExecutable = ((await lstat(path)).mode & 0o111) !== 0;
      blocks.push(...record(name, { kind: KINDS.file, content: new Uint8Array(await readFile(path)), isExecutable }));
    }
  }
}

type Block = Uint8Array<ArrayBuffer>;

type Entry = { kind: string; content?: Block; link?: string; isExecutable?: boolean };

function record(name: string, entry: Entry): Block[] {
  const { content = new Uint8Array(), link = "" } = entry;
  const long = new TextEncoder().encode(`${name}\0`);
  const before = long.length > 100 ? record("././@LongLink", { kind: KINDS.longName, content: long }) : [];
  const header = new Uint8Array(BLOCK);
  const put = (at: number, bytes: Uint8Array | string) => header.set(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes, at);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  put(0, long.subarray(0, 100));
  put(100, octal(entry.isExecutable ? 0o755 : 0o644, 7) + octal(0, 7) + octal(0, 7) + octal(content.length, 11) + octal(0, 11));
  put(148, "        ");
  put(156, entry.kind);
  put(157, new TextEncoder().encode(link).subarray(0, 100));
  put(257, "ustar  \0");
  put(148, `${octal(header.reduce((sum, byte) => sum + byte, 0), 6)} `);
  return [...before, header, content, new Uint8Array(-content.length & (BLOCK - 1))];
}

/** Unpacks a tar.gz into a folder that is new or empty. On a failure the folder stays as it was. */
export async function unpackFolder(archive: ReadableStream<Uint8Array>, folder: string): Promise<void> {
  const goal = resolve(folder);
  await mkdir(dirname(goal), { recursive: true });
  const names = await readdir(goal).catch((error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? [] : Promise.reject(error)));
  if (names.length > 0) throw new Error(`${folder} is not empty; export to a new folder`);
  const work = await mkdtemp(`${goal}.`);
  try {
    const unzip = new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
    await unpack(new Reader(archive.pipeThrough(unzip)), work);
    await rmdir(goal).catch(() => {});
    await rename(work, goal);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

async function unpack(reader: Reader, folder: string): Promise<void> {
  let long = "";
  for (;;) {
    const header = await reader.take(BLOCK);
    if (header.every((byte) => byte === 0)) return reader.drain();
    const size = Number.parseInt(text(header.subarray(124, 136)), 8);
    const content = await reader.take(size);
    await reader.take(-size & (BLOCK - 1));
    const kind = String.fromCharCode(header[156]!);
    if (kind === KINDS.longName) long = text(content);
    else if (kind === KINDS.file) {
      const file = join(folder, safePath(long || text(header.subarray(0, 100))));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content, { flag: "wx", mode: Number.parseInt(text(header.subarray(100, 108)), 8) & 0o777 });
      long = "";
    } else throw new Error(`the archive has an entry of the unexpected type "${kind}"`);
  }
}

function safePath(name: string): string {
  if (/[\\\0]|^\/|^[a-z]:/i.test(name) || name.split("/").some((part) => ["", ".", ".."].includes(part))) {
    throw new Error(`the archive has the unsafe path ${JSON.stringify(name)}`);
  }
  return name;
}

function text(field: Uint8Array): string {
  return new TextDecoder().decode(field).replace(/\0.*$/s, "");
}

/** Reads a stream in pieces of given sizes. */
class Reader {
  readonly #chunks: ReadableStreamDefaultReader<Uint8Array>;
  #rest = new Uint8Array();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#chunks = stream.getReader();
  }

  async take(size: number): Promise<Uint8Array> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < size) {
      const { value, done } = await this.#chunks.read();
      if (done) throw new Error("the archive ends too early");
      parts.push(value as Uint8Array<ArrayBuffer>);
      length += value.length;
    }
    const whole = new Uint8Array(length);
    let at = 0;
    for (const part of parts) whole.set(part, (at += part.length) - part.length);
    this.#rest = whole.subarray(size);
    return whole.subarray(0, size);
  }

  /** Reads to the end, where the checksum of the archive is. */
  async drain(): Promise<void> {
    while (!(await this.#chunks.read()).done);
  }
}
