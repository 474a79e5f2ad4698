import { type Audit, wasDone } from "../audit.ts";
import { type Caller, demand } from "../caller.ts";
import { lastAcknowledged, type Slot } from "./slot.ts";

/** The expected ciphertext of each secret: that of the last write that took effect, by the audit. */
export function expectedContents(slots: readonly Slot[], audit: Audit) {
  const problems: string[] = [];
  const contents = new Map<string, string>();
  for (const slot of slots) {
    const last = slot.writes.findLastIndex((write) => wasDone(write, audit));
    const acknowledged = lastAcknowledged(slot);
    if (last < acknowledged) problems.push(`write ${acknowledged} of ${slot.uid} was acknowledged and took no effect`);
    const content = slot.writes[last]?.content ?? null;
    if (content !== null) contents.set(slot.uid, content);
  }
  return { contents, problems };
}

/** The ciphertext of every secret of the person's folder, by uid. */
export async function presentContents(url: string, person: Caller): Promise<Map<string, string>> {
  const body = await demand(url, { method: "GET", path: person.list, bearer: person.bearer() });
  const { data } = body as unknown as { data: { uid: string; data_encrypted: string }[] }; // as the interface describes it
  return new Map(data.map((each) => [each.uid, each.data_encrypted]));
}
