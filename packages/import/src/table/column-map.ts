import { ImportError } from "../import-error.ts";
import { asCustom, fieldOfHeading } from "./column-fields.ts";

/** A person's mapping of headings to fields. */
export type ColumnMap = Readonly<Record<string, string>>;

/** The field of each heading: from the map, else by the common meaning, else a custom field. */
export function fieldsOfHeadings(map: ColumnMap): (heading: string) => string {
  const mapped = new Map(Object.entries(map).map(([heading, field]) => [keyOf(heading), field]));
  return (heading) => mapped.get(keyOf(heading)) ?? fieldOfHeading(heading) ?? asCustom;
}

/**
 * Throws ImportError `wrong_format` for a heading in the map that the table does not have, and for
 * one that the format itself defines (`fixed`, in lower case).
 */
export function checkMap(map: ColumnMap, columns: readonly string[], fixed: readonly string[] = []): void {
  for (const heading of Object.keys(map)) {
    const key = keyOf(heading);
    if (!columns.includes(key)) throw new ImportError("wrong_format", `the table has no column "${heading}" to map`);
    if (fixed.includes(key))
      throw new ImportError(
        "wrong_format",
        `the format gives the column "${heading}" its meaning: map it with --format csv`,
      );
  }
}

function keyOf(heading: string): string {
  return heading.trim().toLowerCase();
}
