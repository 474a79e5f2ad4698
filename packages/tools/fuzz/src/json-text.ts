import { RawJson } from "./strange-values.ts";

/** The JSON text of a value that may contain `RawJson`. */
export function jsonText(value: unknown): string {
  const parts: string[] = [];
  const marked = JSON.stringify(value, (_, item: unknown) => {
    if (!(item instanceof RawJson)) return item;
    parts.push(item.text);
    return `raw json ${parts.length - 1}`;
  });
  return marked.replace(/"raw json (\d+)"/g, (_, at: string) => parts[Number(at)] ?? "null");
}
