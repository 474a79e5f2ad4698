import { computed, signal } from "@preact/signals";
import type { FromWorker, RecordSummary, State } from "../protocol.ts";
import { connectWorker } from "./worker-client.ts";

const nothing: State = {
  phase: "starting",
  user: null,
  endedBecause: null,
  connection: { kind: "connecting" },
  vaults: [],
};

export const state = signal<State>(nothing);
/** All records by their ids. Replaced when one changes. */
export const records = signal<ReadonlyMap<string, RecordSummary>>(new Map());

/** Calls the worker. */
export const call = connectWorker(receive);

function receive(message: FromWorker): void {
  if (message.kind === "state") state.value = message.state;
  if (message.kind !== "records") return;
  const next = new Map(message.all ? [] : records.value);
  for (const record of message.changed) next.set(record.id, record);
  for (const id of message.removed) next.delete(id);
  records.value = next;
}

/** What is typed into the search. */
export const search = signal("");
/** The vault whose records are shown; null for all. */
export const shownVault = signal<string | null>(null);

interface Searchable {
  record: RecordSummary;
  text: string;
}

const sorted = computed<Searchable[]>(() => {
  const compare = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;
  return [...records.value.values()]
    .sort((a, b) => compare(a.name, b.name) || (a.id < b.id ? -1 : 1))
    .map((record) => ({ record, text: fold(`${record.name} ${record.username} ${record.host}`) }));
});

/** The records of the chosen vault that hold each typed word, by name. */
export const found = computed<RecordSummary[]>(() => {
  const words = fold(search.value)
    .split(/\s+/)
    .filter((word) => word !== "");
  const vault = shownVault.value;
  return sorted.value
    .filter(({ record, text }) => (vault === null || record.vaultId === vault) && words.every((w) => text.includes(w)))
    .map(({ record }) => record);
});

/** Case and accents do not matter in a search. */
function fold(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
