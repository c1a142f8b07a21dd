/// <reference lib="esnext.disposable" preserve="true" />
export { Knowhow, type KnowhowOptions, Sessions } from "./client.js";
export * from "./errors.js";
export type * from "./models.js";
export { type Page, Pages } from "./pages.js";
export { Dreams, LearningSettings, Memories, type ReviewOptions, SoulText, Submissions, UserData } from "./resources.js";
export { type ReplyOptions, Session, type SessionOptions, type TurnOptions } from "./session.js";
export { type Bytes, type ImportOptions, Skills } from "./skills.js";
export type { Call, RequestOptions } from "./transport.js";
