import type { LeftOut, PlainRecord } from "@coffer/import";
import { countOf, printNotice, visible } from "../output/output.ts";

/** The number of names per reason; `--json` has all. More names are shown for omitted items. */
const namedAtMost = 20;
const itemsNamedAtMost = 1000;

/** Prints what is omitted: one line per reason, with the items. Contains no values. */
export function printLeftOut(leftOut: readonly LeftOut[], all: boolean): void {
  const items = new Map<string, string[]>();
  for (const { kind, item, reason } of leftOut) {
    const heading = `${kind}: ${visible(reason)}`;
    const names = items.get(heading) ?? [];
    items.set(heading, names);
    if (item !== null) names.push(visible(item));
  }
  for (const [heading, names] of items) {
    const most = heading.startsWith("item:") ? itemsNamedAtMost : namedAtMost;
    printNotice(`left out, ${heading}${names.length === 0 ? "" : `: ${shorten(names, all ? 0 : most, "item")}`}`);
  }
}

/** Prints a number of `nouns` with their names. With `--json` (`all`) the output has the names. */
export function printNames(what: string, noun: string, names: readonly string[], all: boolean): void {
  if (names.length === 0) return;
  const shown = names.map(visible);
  printNotice(`${what}: ${countOf(names.length, noun)}${all ? "" : `: ${shorten(shown, namedAtMost, noun)}`}`);
}

function shorten(names: readonly string[], most: number, noun: string): string {
  const shown = names.slice(0, most);
  const more = names.length - shown.length;
  const rest = more === 0 ? [] : [shown.length === 0 ? countOf(more, noun) : `${more} more (--json names them)`];
  return [...shown, ...rest].join(", ");
}

/** `3 records: 2 login, 1 card` */
export function countByType(records: readonly PlainRecord[]): string {
  const counts = new Map<string, number>();
  for (const { type } of records) counts.set(type, (counts.get(type) ?? 0) + 1);
  const parts = [...counts].sort(([, a], [, b]) => b - a).map(([type, count]) => `${count} ${type}`);
  return `${countOf(records.length, "record")}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}
