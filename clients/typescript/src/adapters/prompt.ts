/** Prompts as AI SDK and Mastra send them to a model. */
import type { Conversation } from "./conversation.js";
import type { PromptParts, ToolResult } from "./known_turns.js";

interface Part {
  type: string;
  text?: unknown;
  toolCallId?: unknown;
  toolName?: unknown;
  output?: unknown;
}

export interface PromptMessage {
  role: string;
  content: string | Part[];
}

/** Returns the prompt with the snapshot after its system messages, and each turn's text in its message. */
export async function completed<M extends PromptMessage>(conversation: Conversation, prompt: M[], signal?: AbortSignal): Promise<M[]> {
  const texts = await conversation.begin(partsOf(prompt), signal);
  let user = 0;
  const messages = prompt.map((message) => {
    const text = message.role === "user" ? texts[user++] : "";
    return text ? { ...message, content: [...(message.content as Part[]), { type: "text", text }] } : message;
  });
  const first = messages.findIndex(({ role }) => role !== "system");
  const { providerOptions } = conversation.options;
  const snapshot = { role: "system", content: conversation.session.system(), ...(providerOptions && { providerOptions }) };
  messages.splice(first < 0 ? messages.length : first, 0, snapshot as unknown as M);
  return messages;
}

function partsOf(prompt: PromptMessage[]): PromptParts {
  const users = prompt.filter(({ role }) => role === "user");
  const parts = prompt.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return {
    messages: users.map(({ content }) => textsOf(content)),
    results: parts.filter(({ type }) => type === "tool-result").map(resultOf),
    continues: prompt.at(-1)?.role !== "user",
  };
}

function textsOf(content: string | Part[]): string {
  if (typeof content === "string") return content;
  const text = content.filter(({ type }) => type === "text").map((part) => String(part.text)).join("\n");
  return text || "(no text)";
}

function resultOf(part: Part): ToolResult {
  const output = part.output as { type?: string; value?: unknown; reason?: string } | undefined;
  const isError = output?.type === "execution-denied" || output?.type?.startsWith("error-");
  const value = output?.value ?? output?.reason ?? "denied";
  const error = isError ? (typeof value === "string" ? value : JSON.stringify(value)) : undefined;
  return { id: String(part.toolCallId), name: String(part.toolName), error };
}
