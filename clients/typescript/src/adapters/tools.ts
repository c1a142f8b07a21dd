/** Tools for the model, with the texts of the service's MCP endpoint. */
import { KnowhowError } from "../errors.js";
import type { Session } from "../session.js";
import type { RequestOptions } from "../transport.js";
import { currentOf } from "./conversation.js";

/** A tool of the service. */
export interface SkillTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: Record<string, unknown>;
}

const READING = ["skill_view", "skill_list", "skill_suggest", "skill_used"];

/** Returns the tools that the session's `tools` allow: all with `full`, those that read with `read`. */
export async function skillTools(session: Session, options?: RequestOptions): Promise<SkillTool[]> {
  const { tools } = await mcp<{ tools: SkillTool[] }>(session, "tools/list", {}, options);
  return tools.filter(({ name }) => session.record.tools === "full" || (session.record.tools === "read" && READING.includes(name)));
}

/** Calls a tool as part of the session, or of the one that continues it. Rejects with the text for the model if it failed. */
export async function callSkillTool(session: Session, name: string, args: unknown, options?: RequestOptions): Promise<string> {
  const current = currentOf(session);
  const params = { name, arguments: args, _meta: { "dev.knowhow/session": current.id } };
  const answer = await mcp<{ content: { text?: string }[]; isError?: boolean }>(current, "tools/call", params, options);
  const text = answer.content.map((part) => part.text ?? "").join("\n");
  if (answer.isError) throw new KnowhowError(text);
  return text;
}

async function mcp<T>(session: Session, method: string, params: object, options?: RequestOptions): Promise<T> {
  const headers = { accept: "application/json, text/event-stream", ...options?.headers };
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const answer = await session.request<{ result: T; error?: { message: string } }>({ method: "POST", path: "/mcp", body }, { ...options, headers });
  if (answer.error) throw new KnowhowError(`${method}: ${answer.error.message}`);
  return answer.result;
}
