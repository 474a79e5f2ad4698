/** The JSON value of an operation's example. */
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A body and its attack. */
export interface HostileBody {
  title: string;
  text: string;
}

/** Stands for JSON text that no value can express, such as two million empty items. */
const mark = "\u0001hostile\u0001";

/**
 * The example, grown to about `bytes`: its lists of objects are repeated; without one it gets a
 * long ignored field.
 */
export function honestBody(example: unknown, bytes: number): string {
  const value = structuredClone(example) as Json; // an example is JSON
  const rest = (): number => bytes - JSON.stringify(value).length;
  for (const path of pathsOf(value)) {
    const list = path.reduce(stepInto, value);
    const item = Array.isArray(list) ? JSON.stringify(list[0] ?? null) : "null";
    if (!Array.isArray(list) || !item.startsWith("{")) continue;
    const more = Math.floor(rest() / (item.length + 1));
    for (let count = 0; count < more; count++) list.push(JSON.parse(item) as Json);
  }
  const text = JSON.stringify(value);
  const padding = Math.max(0, bytes - text.length - 20);
  return text === "{}" ? text : `${text.slice(0, -1)},"ignored":"${"A".repeat(padding)}"}`;
}

/**
 * Bodies of at most `bytes` with about `tokens` structural tokens: at the top of the example, in
 * each of its lists and maps, and in its first text.
 */
export function hostileBodies(example: unknown, bytes: number, tokens: number): HostileBody[] {
  const value = example as Json; // an example is JSON
  const paths = pathsOf(value);
  const nested = paths.filter((path) => typeof path.reduce(stepInto, value) === "object");
  const texts = paths.filter((path) => typeof path.reduce(stepInto, value) === "string").slice(0, 1);
  const free = Math.max(0, bytes - JSON.stringify(example).length - 16);
  const all = fillings(free, tokens - 1_000);
  return [[], ...nested, ...texts].flatMap((path) =>
    all
      .filter(({ title }) => texts[0] !== path || title.includes("string"))
      .map(({ title, text }) => ({
        title: `${title} at ${path.join(".") || "the top"}`,
        text: JSON.stringify(replaced(value, path)).replace(JSON.stringify(mark), () => text),
      })),
  );
}

function fillings(free: number, tokens: number): HostileBody[] {
  const list = (title: string, item: string, each: number): HostileBody => {
    const count = Math.max(1, Math.min(Math.floor(tokens / each), Math.floor(free / (item.length + 1))));
    const spaces = " ".repeat(Math.max(0, Math.floor(free / count) - item.length - 1));
    return { title, text: `[${Array.from({ length: count }, () => item + spaces).join(",")}]` };
  };
  const keys = Math.max(1, Math.min(Math.floor(tokens / 2), Math.floor(free / 14)));
  const text = (unit: string): string => `"${unit.repeat(Math.floor(free / unit.length))}"`;
  return [
    { title: "nesting", text: "[".repeat(free / 2) + "]".repeat(free / 2) },
    { title: "31 levels", text: "[".repeat(29) + "]".repeat(29) },
    { title: "as many values as fit", text: `[0${",0".repeat(Math.max(0, free / 2 - 2))}]` },
    list("empty objects", "{}", 3),
    list("empty lists", "[]", 3),
    list("wrong types", "0", 1),
    list("objects of wrong types", '{"id":0,"uid":0,"type":[]}', 10),
    { title: "many keys", text: `{${Array.from({ length: keys }, (_, key) => `"k${key}":0`).join(",")}}` },
    { title: "a long string", text: text("a") },
    { title: "a string of escapes", text: text(String.raw`\"`) },
    { title: "a long number", text: "9".repeat(free) },
  ];
}

/** The paths of all values in a value. Of a list its first item stands for all. */
function pathsOf(value: Json): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? (value.length > 0 ? ["0"] : []) : Object.keys(value);
  return names.flatMap((name) => [[name], ...pathsOf(stepInto(value, name)).map((path) => [name, ...path])]);
}

function stepInto(value: Json, name: string): Json {
  return (value as { [name: string]: Json })[name] ?? null; // a list has its indexes as names
}

function replaced(value: Json, path: readonly string[]): Json {
  const [name, ...rest] = path;
  if (name === undefined) return mark;
  if (Array.isArray(value)) return value.with(Number(name), replaced(stepInto(value, name), rest));
  return { ...(value as { [name: string]: Json }), [name]: replaced(stepInto(value, name), rest) };
}
