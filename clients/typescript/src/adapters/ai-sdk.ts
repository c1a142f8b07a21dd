/** Knowhow for the Vercel AI SDK: a middleware of the language model, and the skills as tools. */
import { dynamicTool, jsonSchema, type LanguageModelMiddleware, type ToolSet } from "ai";
import type { Session } from "../session.js";
import { Conversation, type ConversationOptions } from "./conversation.js";
import { completed, type PromptMessage } from "./prompt.js";
import { callSkillTool, skillTools } from "./tools.js";

export type { ConversationOptions };

type Generated = Awaited<ReturnType<Parameters<NonNullable<LanguageModelMiddleware["wrapGenerate"]>>[0]["doGenerate"]>>;
type Content = Generated["content"][number];

/**
 * Returns a middleware that drives a session from the calls of a model.
 *
 * ```ts
 * const session = await kh.session({ key: chatId, channel: "chat", tools: "read" });
 * const model = wrapLanguageModel({ model: base, middleware: knowhowMiddleware(session) });
 * ```
 *
 * Each new message of the user becomes a turn. The text of the turn is in the message in this and all later calls. The last call
 * within the budget has no tools. Use one middleware for one conversation, and another model for other questions.
 */
export function knowhowMiddleware(session: Session, options: ConversationOptions = {}): LanguageModelMiddleware {
  const conversation = new Conversation(session, options);
  return {
    specificationVersion: "v4",

    async transformParams({ params }) {
      const prompt = await completed(conversation, params.prompt as PromptMessage[], params.abortSignal);
      const mustAnswer = conversation.isLastRound && params.tools?.length;
      return { ...params, prompt: prompt as typeof params.prompt, ...(mustAnswer && { toolChoice: { type: "none" } }) };
    },

    async wrapGenerate({ doGenerate }) {
      const result = await doGenerate();
      await finish(conversation, result.content);
      return result;
    },

    async wrapStream({ doStream }) {
      const { stream, ...rest } = await doStream();
      const content: Content[] = [];
      const watched = stream.pipeThrough(
        new TransformStream<typeof stream extends ReadableStream<infer Part> ? Part : never>({
          async transform(part, controller) {
            if (part.type === "text-delta") content.push({ type: "text", text: part.delta });
            if (part.type === "tool-call" || part.type === "tool-result") content.push(part);
            // The reply is logged before the end, after which a serverless process may stop.
            if (part.type === "finish" && part.finishReason.unified !== "error") await finish(conversation, content);
            controller.enqueue(part);
          },
        }),
      );
      return { stream: watched, ...rest };
    },
  };
}

/** Returns the tools of the session for `generateText` and `streamText`: with `tools: "read"` those that read skills. */
export async function knowhowTools(session: Session): Promise<ToolSet> {
  const tools = (await skillTools(session)).map(({ name, description, inputSchema }) => {
    const execute = (input: unknown, { abortSignal }: { abortSignal?: AbortSignal }) => callSkillTool(session, name, input, { signal: abortSignal });
    return [name, dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute })];
  });
  return Object.fromEntries(tools) as ToolSet;
}

/** Records a response of the model: tool calls, results of the provider's own tools, and the reply. */
async function finish(conversation: Conversation, content: Content[]): Promise<void> {
  const calls = content.filter((part) => part.type === "tool-call");
  const results = content.filter((part) => part.type === "tool-result");
  await conversation.taint(results.map(({ toolCallId, toolName }) => ({ id: toolCallId, name: toolName })));
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const isFinal = calls.every(({ providerExecuted }) => providerExecuted);
  await conversation.end(text, calls.map(({ toolCallId, toolName }) => ({ id: toolCallId, name: toolName })), isFinal);
}
