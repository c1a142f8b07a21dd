/** Turns of a session, and their positions in a prompt. */

/** A result of a tool in a prompt. */
export interface ToolResult {
  id: string;
  name: string;
  error?: string | undefined;
}

/** The user's messages in a prompt, oldest first, and the results of tools. */
export interface PromptParts {
  messages: string[];
  results: ToolResult[];
  /** Whether the agent has acted since the last message of the user. */
  continues: boolean;
}

/** A turn that the session has taken. */
export interface KnownTurn {
  message: string;
  /** Undefined until it is read again, after a restart. */
  text: string | undefined;
  number: number | undefined;
  isAnswered: boolean;
  /** Number of the user's messages in the prompt at that time. */
  position: number | undefined;
}

/** Whether a message is that of the turn: another round of it, or another answer to it. */
export function isCurrent(turn: KnownTurn | undefined, message: string, parts: PromptParts): boolean {
  return turn?.message === message && (parts.continues || !turn.isAnswered || turn.position === parts.messages.length);
}

/** Returns the turn of each message, from the last message back. Messages may be missing on either side. */
export function align(messages: string[], turns: KnownTurn[]): (KnownTurn | undefined)[] {
  const placed: (KnownTurn | undefined)[] = messages.map(() => undefined);
  let end = turns.length;
  for (let at = messages.length - 1; at >= 0; at--) {
    const found = turns.slice(0, end).findLastIndex(({ message }) => message === messages[at]);
    if (found >= 0) [placed[at], end] = [turns[found], found];
  }
  return placed;
}
