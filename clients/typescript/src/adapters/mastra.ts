/** Knowhow for Mastra: a processor for turns, the skills as tools, and the skills as a source of a workspace. */
import type * as m from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";
import type { SkillSource, SkillSourceEntry, SkillSourceStat } from "@mastra/core/workspace";
import type { UserData } from "../resources.js";
import type { Session } from "../session.js";
import { Conversation, type ConversationOptions } from "./conversation.js";
import { completed } from "./prompt.js";
import { callSkillTool, skillTools } from "./tools.js";

export type { ConversationOptions };

type Payload = { text?: string; toolCallId: string; toolName: string; providerExecuted?: boolean };

/**
 * Drives a session from the calls of an agent's model.
 *
 * ```ts
 * const session = await kh.session({ key: thread, channel: "chat", tools: "read" });
 * const agent = new Agent({ ..., tools: await knowhowTools(session), inputProcessors: [new KnowhowProcessor(session)] });
 * ```
 *
 * The texts of turns are in the requests to the model only, not in the agent's memory. Use one processor for one conversation.
 */
export class KnowhowProcessor implements m.Processor<"knowhow"> {
  readonly id = "knowhow";
  readonly #conversation: Conversation;

  constructor(
    session: Session,
    private readonly options: ConversationOptions = {},
  ) {
    this.#conversation = new Conversation(session, options);
  }

  /** Forbids tools in the last round of the budget, so that the model answers. */
  processInputStep({ stepNumber }: m.ProcessInputStepArgs): m.ProcessInputStepResult | undefined {
    return stepNumber + 1 >= this.#conversation.maxTurns ? { toolChoice: "none" } : undefined;
  }

  async processLLMRequest({ prompt, abortSignal }: m.ProcessLLMRequestArgs): Promise<m.ProcessLLMRequestResult> {
    return { prompt: await completed(this.#conversation, prompt, abortSignal) };
  }

  async processLLMResponse({ chunks }: m.ProcessLLMResponseArgs): Promise<void> {
    const of = (type: string) => chunks.filter((chunk) => chunk.type === type).map(({ payload }) => payload as Payload);
    const named = (parts: Payload[]) => parts.map(({ toolCallId, toolName }) => ({ id: toolCallId, name: toolName }));
    const calls = of("tool-call");
    await this.#conversation.taint(named(of("tool-result")));
    const text = of("text-delta").map((part) => part.text ?? "").join("");
    await this.#conversation.end(text, named(calls), calls.every(({ providerExecuted }) => providerExecuted));
  }

  /** Counts loads by the tool `skill` of a workspace with a `KnowhowSkillSource`. For that, add the processor to `outputProcessors` too. */
  async processToolResult({ toolName, args }: m.ProcessToolResultArgs): Promise<void> {
    if (toolName !== "skill") return;
    const name = (args as { name: string }).name.replace(/^\/?skills\//, "");
    await this.#conversation.session.used(name).catch((error: unknown) => this.options.onError?.(error));
  }
}

/** Returns the tools of the session: with `tools: "read"` those that read skills. */
export async function knowhowTools(session: Session): Promise<Record<string, ReturnType<typeof createTool>>> {
  const tools = (await skillTools(session)).map(({ name, description, inputSchema }) => {
    const execute = (input: unknown, context: { abortSignal?: AbortSignal }) => callSkillTool(session, name, input, { signal: context?.abortSignal });
    return [name, createTool({ id: name, description, inputSchema, execute })];
  });
  return Object.fromEntries(tools) as Record<string, ReturnType<typeof createTool>>;
}

/**
 * The user's skills as files of a workspace: `skills/mcp/email/SKILL.md` and so on. Tainted skills are left out.
 *
 * ```ts
 * new Workspace({ skills: ["skills/**\/SKILL.md"], skillSource: new KnowhowSkillSource(kh) });
 * ```
 */
export class KnowhowSkillSource implements SkillSource {
  #index: { read: Promise<Map<string, SkillSourceStat & { skill?: string; file?: string }>>; until: number } | undefined;

  constructor(
    private readonly data: Pick<UserData, "skills">,
    /** Milliseconds for which the list of skills and files is kept. */
    private readonly maxAgeMs = 30_000,
  ) {}

  async exists(path: string): Promise<boolean> {
    return (await this.#files()).has(normal(path));
  }

  async stat(path: string): Promise<SkillSourceStat> {
    const found = (await this.#files()).get(normal(path));
    if (!found) throw Object.assign(new Error(`ENOENT: no such file: ${path}`), { code: "ENOENT" });
    return found;
  }

  async readFile(path: string): Promise<string | Buffer> {
    const { skill, file } = (await this.stat(path)) as { skill?: string; file?: string };
    if (skill === undefined || file === undefined) throw new Error(`EISDIR: ${path} is a directory`);
    if (file === "SKILL.md") return this.data.skills.skillMd(skill);
    return Buffer.from(await this.data.skills.getResource(skill, file));
  }

  async readdir(path: string): Promise<SkillSourceEntry[]> {
    await this.stat(path);
    const folder = normal(path);
    const entries = [...(await this.#files())].filter(([key]) => key !== "" && parent(key) === folder);
    return entries.map(([, { name, type }]) => ({ name, type }));
  }

  #files() {
    if (!this.#index || this.#index.until < Date.now()) this.#index = { read: this.#read(), until: Date.now() + this.maxAgeMs };
    this.#index.read.catch(() => (this.#index = undefined));
    return this.#index.read;
  }

  async #read() {
    const files = new Map<string, SkillSourceStat & { skill?: string; file?: string }>();
    const skills = (await this.data.skills.list({ limit: 200 }).all()).filter(({ tainted }) => !tainted);
    const add = (path: string, type: "file" | "directory", at: Date, of: object = {}): void => {
      const before = files.get(path);
      if (before && before.modifiedAt >= at) return;
      files.set(path, { name: path.replace(/^.*\//, ""), type, size: 0, createdAt: at, modifiedAt: at, ...of });
      if (path) add(parent(path), "directory", at);
    };
    add("skills", "directory", new Date(0));
    for (let at = 0; at < skills.length; at += 4) {
      const whole = await Promise.all(skills.slice(at, at + 4).map(({ name }) => this.data.skills.get(name)));
      for (const { name, updated_at, resources } of whole) {
        const all = [{ path: "SKILL.md", size: 0, media_type: "text/markdown" }, ...resources];
        for (const { path, size, media_type } of all) {
          add(`skills/${name}/${path}`, "file", new Date(updated_at), { skill: name, file: path, size, mimeType: media_type });
        }
      }
    }
    return files;
  }
}

function normal(path: string): string {
  return path.split("/").filter((part) => part !== "" && part !== ".").join("/");
}

function parent(path: string): string {
  return path.includes("/") ? path.replace(/\/[^/]*$/, "") : "";
}
