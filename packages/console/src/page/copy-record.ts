import { m } from "../messages/messages.ts";
import type { RecordSummary } from "../protocol/session.ts";
import { copy } from "./copy.ts";
import { call } from "./store.ts";

/** Copies the user name, password or one-time code of a record, if it has one. */
export async function copyOf(what: "username" | "password" | "code", record: RecordSummary): Promise<void> {
  const { id } = record;
  if (what === "username" && record.username !== "")
    await copy(m.fields.username, () => Promise.resolve(record.username));
  if (what === "password" && record.hasPassword)
    await copy(m.fields.password, () => call("reveal", { id, key: "password" }));
  if (what === "code" && record.hasCode) await copy(m.oneTimeCode, async () => (await call("oneTimeCode", id)).code);
}
