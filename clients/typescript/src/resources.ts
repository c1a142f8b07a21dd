/** Resources of the user, except skills and sessions. */
import type { operations } from "./generated/openapi.js";
import type * as m from "./models.js";
import type { Pages } from "./pages.js";
import { Skills } from "./skills.js";
import { type Call, path, type RequestOptions, Resource, type Transport } from "./transport.js";

type Query<O extends keyof operations> = Omit<NonNullable<operations[O]["parameters"]["query"]>, "cursor">;

/** Options of an admin who reviews data of a user. */
export interface ReviewOptions extends RequestOptions {
  /** The owner of the data, if the caller is an admin. Needs a `reason`. */
  user?: string | undefined;
}

/** Facts and events that the agent remembers about the user. */
export class Memories extends Resource {
  /** Saves a memory. With `core` it is in every snapshot; `replaces` deletes the memory that it corrects. */
  save(memory: m.Schemas["SaveMemory"], options?: RequestOptions): Promise<m.Memory> {
    return this.http.json({ method: "POST", path: "/v1/memories", body: memory }, options);
  }

  /** Lists memories, newest first. */
  list(query: Query<"list_memories"> = {}, options?: RequestOptions): Pages<m.Schemas["Page_ListedMemory"]["items"][number]> {
    return this.http.list("/v1/memories", query, options);
  }

  /** Reads a memory. */
  get(id: string, options?: RequestOptions): Promise<m.Memory> {
    return this.http.json({ method: "GET", path: path`/v1/memories/${id}` }, options);
  }

  /** Corrects a memory: absent members stay. */
  update(id: string, change: m.Schemas["ChangeMemory"], options?: RequestOptions): Promise<m.Memory> {
    return this.http.json({ method: "PATCH", path: path`/v1/memories/${id}`, body: change }, options);
  }

  /** Deletes a memory for good. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.http.json({ method: "DELETE", path: path`/v1/memories/${id}` }, options);
  }

  /** Lists the versions of a memory. */
  versions(id: string, options?: RequestOptions): Pages<m.Schemas["Page_MemoryVersion"]["items"][number]> {
    return this.http.list(path`/v1/memories/${id}/versions`, {}, options);
  }

  /** Approves a tainted memory, as a reviewer. */
  approve(id: string, body: m.Schemas["ApproveText"] = {}, options?: ReviewOptions): Promise<m.Memory> {
    return review(this.http, path`/v1/memories/${id}/approve`, body, options);
  }

  /** Finds memories and skills together, best first. */
  recall(q: string, query: Omit<Query<"recall">, "q"> = {}, options?: RequestOptions): Promise<m.Schemas["RecalledItems"]> {
    return this.http.json({ method: "GET", path: "/v1/recall", query: { ...query, q } }, options);
  }
}

/** The user's text about the agent's manner. */
export class SoulText extends Resource {
  /** Reads the current text. */
  get(options?: RequestOptions): Promise<m.Soul> {
    return this.http.json({ method: "GET", path: "/v1/soul" }, options);
  }

  /** Replaces the text. `expected_version` is 0 for the first one. */
  put(soul: m.Schemas["PutSoul"], options?: RequestOptions): Promise<m.Soul> {
    return this.http.json({ method: "PUT", path: "/v1/soul", body: soul }, options);
  }

  /** Approves a tainted version, as a reviewer. */
  approve(version: number, body: m.Schemas["ApproveText"] = {}, options?: ReviewOptions): Promise<m.Soul> {
    return review(this.http, path`/v1/soul/versions/${version}/approve`, body, options);
  }

  /** Lists the versions, newest first. */
  versions(query: Query<"list_souls"> = {}, options?: RequestOptions): Pages<m.Schemas["Page_ListedSoul"]["items"][number]> {
    return this.http.list("/v1/soul/versions", query, options);
  }
}

function review<T>(http: Transport, path: string, body: object | undefined, options?: ReviewOptions): Promise<T> {
  return http.json({ method: "POST", path, query: { user: options?.user }, body, repeatable: false }, options);
}

/** Changes that wait for a reviewer, and their decisions. */
export class Submissions extends Resource {
  /** Asks for a review of a save, a patch or a delete. `state` of the result is `approved` if no check holds it. */
  create(submission: m.Schemas["Submit"], options?: RequestOptions): Promise<m.Submission> {
    return this.http.json({ method: "POST", path: "/v1/submissions", body: submission }, options);
  }

  /** Lists the submissions of the user; an admin gets those of all users. */
  list(query: Query<"list_submissions"> = {}, options?: RequestOptions): Pages<m.Submission> {
    return this.http.list("/v1/submissions", query, options);
  }

  /** Reads a submission; reviewers also get its text and diff. */
  get(id: string, options?: RequestOptions): Promise<m.SubmissionDetail> {
    return this.http.json({ method: "GET", path: path`/v1/submissions/${id}` }, options);
  }

  /** Applies the change, as a reviewer. */
  approve(id: string, body: m.Schemas["Decide"] = {}, options?: RequestOptions): Promise<m.Submission> {
    return review(this.http, path`/v1/submissions/${id}/approve`, body, options);
  }

  /** Refuses the change, as a reviewer. */
  reject(id: string, body: m.Schemas["Decide"] = {}, options?: RequestOptions): Promise<m.Submission> {
    return review(this.http, path`/v1/submissions/${id}/reject`, body, options);
  }

  /** Withdraws the user's own change. */
  withdraw(id: string, body: m.Schemas["Decide"] = {}, options?: RequestOptions): Promise<m.Submission> {
    return review(this.http, path`/v1/submissions/${id}/withdraw`, body, options);
  }

  /** Merges the change with the current version; it waits again. */
  rebase(id: string, options?: RequestOptions): Promise<m.Submission> {
    return review(this.http, path`/v1/submissions/${id}/rebase`, undefined, options);
  }
}

/** Runs in the background that propose better skills. */
export class Dreams extends Resource {
  /** Starts a run for each pass. With `dry_run` it makes no changes. */
  async start(body: m.Schemas["StartDreams"] = {}, options?: RequestOptions): Promise<m.DreamRun[]> {
    return (await this.http.json<{ items: m.DreamRun[] }>({ method: "POST", path: "/v1/dreams", body }, options)).items;
  }

  /** Lists runs, newest first. */
  list(query: Query<"list_dreams"> = {}, options?: RequestOptions): Pages<m.DreamRun> {
    return this.http.list("/v1/dreams", query, options);
  }

  /** Reads a run with its operations. */
  get(id: string, options?: RequestOptions): Promise<m.DreamDetail> {
    return this.http.json({ method: "GET", path: path`/v1/dreams/${id}` }, options);
  }

  /** Lists candidates of dreams, which are found without a model. */
  candidates(query: Query<"list_dream_candidates"> = {}, options?: RequestOptions): Promise<m.Schemas["DreamCandidates"]> {
    return this.http.json({ method: "GET", path: "/v1/dreams/candidates", query }, options);
  }

  /** Applies the waiting operations, or those of `ops`, as a reviewer. */
  apply(id: string, body: m.Schemas["DecideDream"] = {}, options?: ReviewOptions): Promise<m.DreamDetail> {
    return review(this.http, path`/v1/dreams/${id}/apply`, body, options);
  }

  /** Rejects the run, as a reviewer. */
  reject(id: string, body: m.Schemas["DecideDream"] = {}, options?: ReviewOptions): Promise<m.DreamDetail> {
    return review(this.http, path`/v1/dreams/${id}/reject`, body, options);
  }

  /** Undoes all applied operations. */
  undo(id: string, options?: ReviewOptions): Promise<m.DreamDetail> {
    return review(this.http, path`/v1/dreams/${id}/undo`, undefined, options);
  }
}

/** The user's settings of dreams. */
export class LearningSettings extends Resource {
  /** Reads the settings, and the state of each pass. */
  get(options?: RequestOptions): Promise<m.Learning> {
    return this.http.json({ method: "GET", path: "/v1/learning" }, options);
  }

  /** Changes the given settings; null follows the tenant. */
  put(settings: m.Schemas["PutLearning"], options?: RequestOptions): Promise<m.Learning> {
    return this.http.json({ method: "PUT", path: "/v1/learning", body: settings }, options);
  }
}

/** The data of a user: through a client, or as part of a session. */
export class UserData extends Resource {
  readonly skills: Skills;
  readonly memories: Memories;
  readonly soul: SoulText;

  constructor(http: Transport) {
    super(http);
    this.skills = new Skills(http);
    this.memories = new Memories(http);
    this.soul = new SoulText(http);
  }

  /** Sends any request of the API, for operations without a method here. */
  request<T>(call: Call, options?: RequestOptions): Promise<T> {
    return this.http.json<T>(call, options);
  }
}
