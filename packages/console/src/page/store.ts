import { computed, signal } from "@preact/signals";
import { byName, folded } from "../order.ts";
import type { FromWorker } from "../protocol/calls.ts";
import type { RecordSummary, State } from "../protocol/session.ts";
import { connectWorker } from "./worker-client.ts";

const nothing: State = {
  phase: "starting",
  user: null,
  endedBecause: null,
  connection: { kind: "connecting" },
  vaults: [],
  settings: { language: "", lockMinutes: 15, singleKeys: true, organization: "" },
  passkeys: [],
};

export const state = signal<State>(nothing);
/** All records by their ids. Replaced when one changes. */
export const records = signal<ReadonlyMap<string, RecordSummary>>(new Map());

const first = Promise.withResolvers<State>();
/** The state that the worker begins with. Where the page cannot decrypt, there is no worker to wait for. */
export const firstState: Promise<State> = isSecureContext ? first.promise : Promise.resolve(nothing);

/** Calls the worker. */
export const call = connectWorker(receive);

function receive(message: FromWorker): void {
  if (message.kind === "state") {
    state.value = message.state;
    first.resolve(message.state);
  }
  if (message.kind !== "records") return;
  const next = new Map(message.all ? [] : records.value);
  for (const record of message.changed) next.set(record.id, record);
  for (const id of message.removed) next.delete(id);
  records.value = next;
}

/** A dialog of the records that another screen asks for; null when there is none. */
export const wanted = signal<"new-vault" | "new-record" | null>(null);

/** The text in the search field. */
export const search = signal("");
/** The vault whose records are shown; null for all. */
export const shownVault = signal<string | null>(null);

/** Sorting what is nearly sorted is quick: all records come in order. */
const sorted = computed<RecordSummary[]>(() => [...records.value.values()].sort(byName));

/** The records of the chosen vault that hold each typed word, by name. */
export const found = computed<RecordSummary[]>(() => {
  const words = folded(search.value)
    .split(/\s+/)
    .filter((word) => word !== "");
  const vault = shownVault.value;
  return sorted.value.filter(
    ({ vaultId, searched }) => (vault === null || vaultId === vault) && words.every((word) => searched.includes(word)),
  );
});
