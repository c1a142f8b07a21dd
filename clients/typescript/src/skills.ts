import type { operations } from "./generated/openapi.js";
import type * as m from "./models.js";
import type { Pages } from "./pages.js";
import { type Call, filePath, path, type RequestOptions, Resource } from "./transport.js";

type Query<O extends keyof operations> = NonNullable<operations[O]["parameters"]["query"]>;
type ListQuery = Omit<Query<"list_skills">, "cursor">;

/** Content of a file: text or bytes. */
export type Bytes = string | Uint8Array | Blob;

export interface ImportOptions extends RequestOptions {
  /** Repairs frontmatter that other hosts accept. */
  fix?: boolean;
  /** `sync` for a folder that is kept in sync. */
  source?: "import" | "sync";
  /** Expected versions by skill name; 0 for a skill that must not exist yet. */
  expected?: Record<string, number>;
}

/** The skills of the user. Methods take a skill's name, its last segment if that is unique, or its id. */
export class Skills extends Resource {
  /**
   * Creates a skill or replaces its text; absent fields keep their values.
   *
   * `status` of the result is `waiting` if a reviewer must approve the change first.
   */
  save(skill: m.SaveSkill, options: RequestOptions & { createOnly?: boolean } = {}): Promise<m.Change<m.SavedSkill>> {
    const query = { create_only: options.createOnly };
    return this.#change({ method: "POST", path: "/v1/skills", query, body: skill }, options);
  }

  /** Replaces text in a skill: all edits, or it rejects with a `PatchNoMatchError` or `PatchAmbiguousError`. */
  patch(name: string, patch: m.PatchSkill, options?: RequestOptions): Promise<m.Change<m.PatchedSkill>> {
    return this.#change({ method: "PATCH", path: path`/v1/skills/${name}`, body: patch }, options);
  }

  /** Changes discovery fields, such as tags or `pinned`, without the text. */
  setFields(name: string, fields: m.Schemas["PutFields"], options?: RequestOptions): Promise<m.Change<m.SavedSkill>> {
    return this.#change({ method: "PUT", path: path`/v1/skills/${name}/fields`, body: fields }, options);
  }

  /** Lists skills by name, or ranked. */
  list(query: ListQuery = {}, options?: RequestOptions): Pages<m.SkillIndexItem> {
    return this.http.list("/v1/skills", query, options);
  }

  /** Finds skills by words and meaning, best first. */
  search(q: string, query: Omit<ListQuery, "q"> = {}, options?: RequestOptions): Pages<m.SkillIndexItem> {
    return this.list({ ...query, q }, options);
  }

  /** Finds skills for a task or plan, with reasons. */
  suggest(context: string, query: Omit<Query<"suggest_skills">, "context"> = {}, options?: RequestOptions): Promise<m.Schemas["Suggestions"]> {
    return this.http.json({ method: "GET", path: "/v1/skills/suggest", query: { ...query, context } }, options);
  }

  /** Finds the skills that a message names, and with `explain` shows how recall sees it. */
  match(message: string, body: Omit<m.Schemas["MatchSkills"], "message"> = {}, options?: RequestOptions): Promise<m.Schemas["Matches"]> {
    return this.http.json({ method: "POST", path: "/v1/skills/match", body: { ...body, message } }, options);
  }

  /** Reads a skill to follow it, which counts as a use. */
  load(name: string, options?: RequestOptions): Promise<m.LoadedSkill> {
    return this.http.json({ method: "GET", path: path`/v1/skills/${name}` }, options);
  }

  /** Reads a skill without counting a use. */
  get(name: string, options?: RequestOptions): Promise<m.LoadedSkill> {
    return this.http.json({ method: "GET", path: path`/v1/skills/${name}`, query: { peek: true } }, options);
  }

  /** Reads the SKILL.md as it is stored. */
  skillMd(name: string, options?: RequestOptions): Promise<string> {
    return this.http.send({ method: "GET", path: path`/v1/skills/${name}/SKILL.md` }, options, (response) => response.text());
  }

  /** Deletes a skill. `absorbed_into` names the skill that its name then leads to. */
  delete(name: string, body?: m.Schemas["DeleteSkill"], options?: RequestOptions): Promise<m.Change<null>> {
    return this.#change({ method: "DELETE", path: path`/v1/skills/${name}`, body }, options);
  }

  /** Lists the versions, newest first. */
  versions(name: string, query: { limit?: number } = {}, options?: RequestOptions): Pages<m.Version> {
    return this.http.list(path`/v1/skills/${name}/versions`, query, options);
  }

  /** Reads one version with its text. */
  version(name: string, version: number, options?: RequestOptions): Promise<m.VersionDetail> {
    return this.http.json({ method: "GET", path: path`/v1/skills/${name}/versions/${version}` }, options);
  }

  /** Compares two versions as a unified diff. */
  diff(name: string, query: Query<"diff_versions">, options?: RequestOptions): Promise<string> {
    return this.http.send({ method: "GET", path: path`/v1/skills/${name}/diff`, query }, options, (response) => response.text());
  }

  /** Makes a new version with the state of an earlier one. */
  rollback(name: string, version: number, options?: RequestOptions): Promise<m.Change<m.SavedSkill>> {
    return this.#change({ method: "POST", path: path`/v1/skills/${name}/rollback`, body: { version } }, options);
  }

  /** Reads a file of a skill. The field `resources` of a skill lists its files. */
  getResource(name: string, file: string, options?: RequestOptions): Promise<Uint8Array> {
    const bytes = async (response: Response) => new Uint8Array(await response.arrayBuffer());
    return this.http.send({ method: "GET", path: resourcePath(name, file) }, options, bytes);
  }

  /** Writes a file of a skill, as a new version. Without `executable` an existing file keeps its bit. */
  putResource(name: string, file: string, content: Bytes, options: RequestOptions & { executable?: boolean } = {}): Promise<m.Change<m.SavedSkill>> {
    const body = content instanceof Blob ? new Blob([content]) : typeof content === "string" ? new TextEncoder().encode(content) : content;
    return this.#change({ method: "PUT", path: resourcePath(name, file), query: { executable: options.executable }, body }, options);
  }

  /** Deletes a file of a skill, as a new version. */
  deleteResource(name: string, file: string, options?: RequestOptions): Promise<m.Change<m.SavedSkill>> {
    return this.#change({ method: "DELETE", path: resourcePath(name, file) }, options);
  }

  /** Reports a use and its outcome. A later outcome is added to the same use. */
  used(skill: string, use: Omit<m.Schemas["ReportUse"], "skill"> = {}, options?: RequestOptions): Promise<m.Schemas["Counted"]> {
    return this.http.json({ method: "POST", path: "/v1/skills/used", body: { ...use, skill } }, options);
  }

  /** Imports archives (zip, tar, tar.gz) and SKILL.md files. The report has an outcome for each skill. */
  async import(files: Bytes | File | (Bytes | File)[], options: ImportOptions = {}): Promise<m.ImportReport> {
    const form = new FormData();
    for (const [index, file] of [files].flat().entries()) {
      const name = file instanceof File ? file.name : typeof file === "string" ? "SKILL.md" : `files-${index}`;
      form.append("files", file instanceof Blob ? file : new Blob([file as string]), name);
    }
    if (options.expected) form.append("expected", JSON.stringify(options.expected));
    const query = { fix: options.fix, source: options.source };
    return this.http.json({ method: "POST", path: "/v1/skills/import", query, body: form }, options);
  }

  /** Imports a folder of this machine: one skill, or a folder of skills. Needs Node.js. */
  async importFolder(folder: string, options: ImportOptions = {}): Promise<m.ImportReport> {
    const { packFolder } = await import("./folder.js");
    return this.import(await packFolder(folder), options);
  }

  /** Exports all skills as one archive. The response streams: read its `body`, `blob()` or `arrayBuffer()`. */
  export(query: Query<"export_skills"> = {}, options?: RequestOptions): Promise<Response> {
    return this.http.send({ method: "GET", path: "/v1/skills/export", query }, options, async (response) => response);
  }

  /** Exports all skills, byte for byte, into a folder that is new or empty. Needs Node.js. */
  async exportFolder(folder: string, query: Omit<Query<"export_skills">, "format"> = {}, options?: RequestOptions): Promise<void> {
    const { unpackFolder } = await import("./folder.js");
    const response = await this.export({ ...query, format: "tar.gz" }, options);
    await unpackFolder(response.body!, folder);
  }

  async #change<T>(call: Call, options?: RequestOptions): Promise<m.Change<T>> {
    return this.http.send(call, options, async (response) => {
      const answer = response.status === 204 ? null : ((await response.json()) as unknown);
      if (response.status === 202) return { status: "waiting", submission: answer as m.Submission };
      return { status: "applied", skill: answer as T };
    });
  }
}

function resourcePath(name: string, file: string): string {
  return path`/v1/skills/${name}/resources/` + filePath(file);
}
