import type { LeftOut, PlainRecord } from "@coffer/import";
import { countOf, tell, visible } from "../output.ts";

/** How many items are named under one reason; `--json` names all. */
const namedAtMost = 20;

/** Says what is left out: one line for each reason, with the items under it. Values are in none of it. */
export function tellLeftOut(leftOut: readonly LeftOut[], all: boolean): void {
  const items = new Map<string, string[]>();
  for (const { kind, item, reason } of leftOut) {
    const heading = `${kind}: ${visible(reason)}`;
    const names = items.get(heading) ?? [];
    items.set(heading, names);
    if (item !== null) names.push(visible(item));
  }
  for (const [heading, names] of items) {
    const shown = names.slice(0, all ? 0 : namedAtMost);
    const more = names.length - shown.length;
    const rest = more === 0 ? [] : [shown.length === 0 ? countOf(more, "item") : `${more} more (--json names them)`];
    tell(`left out, ${heading}${names.length === 0 ? "" : `: ${[...shown, ...rest].join(", ")}`}`);
  }
}

/** `3 records: 2 login, 1 card` */
export function countByType(records: readonly PlainRecord[]): string {
  const counts = new Map<string, number>();
  for (const { type } of records) counts.set(type, (counts.get(type) ?? 0) + 1);
  const parts = [...counts].sort(([, a], [, b]) => b - a).map(([type, count]) => `${count} ${type}`);
  return `${countOf(records.length, "record")}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}
