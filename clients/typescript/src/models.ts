/** Names for the models of the API that are generated from its OpenAPI document. */
import type { components } from "./generated/openapi.js";

/** All models of the API by name. */
export type Schemas = components["schemas"];

export type Problem = Schemas["Problem"];
export type FieldError = Schemas["FieldError"];
export type Passage = Schemas["Passage"];

export type Skill = Schemas["Skill"];
export type SkillIndexItem = Schemas["Page_IndexItem"]["items"][number];
export type LoadedSkill = Schemas["LoadedSkill"];
export type SavedSkill = Schemas["SavedSkill"];
export type PatchedSkill = Schemas["Patched"];
export type SaveSkill = Schemas["SaveSkill"];
export type PatchSkill = Schemas["PatchSkill"];
export type Version = Schemas["Version"];
export type VersionDetail = Schemas["VersionDetail"];
export type ImportReport = Schemas["ImportReport"];
export type Outcome = Schemas["Outcome"];

export type Turn = Schemas["TurnAnswer"];
export type Message = Schemas["Page_Message"]["items"][number];
export type SessionRecord = Schemas["Session"];
export type Snapshot = Schemas["SnapshotView"];
export type PreviousSummary = Schemas["PreviousSummary"];
export type ToolCall = Schemas["ToolCall"];

export type Memory = Schemas["Memory"];
export type Soul = Schemas["Soul"];
export type Submission = Schemas["Submission"];
export type SubmissionDetail = Schemas["SubmissionDetail"];
export type DreamRun = Schemas["DreamRun"];
export type DreamDetail = Schemas["DreamDetail"];
export type Learning = Schemas["Learning"];

/** The result of a change: applied at once, or waiting for a reviewer as a submission (202). */
export type Change<T> =
  | { status: "applied"; skill: T; submission?: undefined }
  | { status: "waiting"; submission: Submission; skill?: undefined };

type CamelKey<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelKey<Tail>>}` : S;

/** The members of an API model as options: `turn_key` is `turnKey`. */
export type Camel<T> = { [K in keyof T as CamelKey<K & string>]: T[K] | (undefined extends T[K] ? undefined : never) };

/** Returns the options that the API has members for, with the names of the API. */
export function snakeCased(options: object): Record<string, unknown> {
  const spelled = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(options).map(([key, value]) => [spelled(key), value]));
}
