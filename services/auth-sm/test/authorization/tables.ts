/** One endpoint's answer to one caller about one choice of ids. */
export interface Cell {
  /** Method and path as in the route table. */
  endpoint: string;
  /** What the record of its refusal names as attempted; null when its refusals leave none. */
  action: string | null;
  /** For each id of the path, then for what the query or the body names: whose it is. */
  words: readonly string[];
  caller: string;
  status: number;
  error: string | null;
}

/** What the marks of a table stand for, besides `.`: the endpoint's success. */
export type Marks = Readonly<Record<string, readonly [status: number, error: string]>>;

/**
 * Reads a table: the callers in its first line, then a line for each endpoint (method, path, status
 * of success, action), and below it a line for each choice of ids with a mark for each caller.
 * `a|b` in it are two choices alike.
 */
export function readTable(text: string, marks: Marks): Cell[] {
  const [header = "", ...lines] = text.split("\n").filter((line) => line.trim() !== "");
  const callers = wordsOf(header);
  const cells: Cell[] = [];
  let endpoint = "";
  let action = "-";
  let success = 0;
  for (const line of lines) {
    if (!line.startsWith(" ")) {
      const [method = "", path = "", status = "", attempted = ""] = wordsOf(line);
      [endpoint, action, success] = [`${method} ${path}`, attempted, Number(status)];
      continue;
    }
    const all = wordsOf(line);
    const given = all.slice(-callers.length);
    if (all.length <= callers.length) throw new Error(`${endpoint}: a line without ids, or without a mark: ${line}`);
    for (const words of choices(all.slice(0, -callers.length))) {
      for (const [index, caller] of callers.entries()) {
        const mark = given[index] ?? "";
        const [status, error] = mark === "." ? [success, null] : (marks[mark] ?? unknown(endpoint, mark));
        cells.push({ endpoint, action: action === "-" ? null : action, words, caller, status, error });
      }
    }
  }
  return cells;
}

function wordsOf(line: string): string[] {
  return line.trim().split(/\s+/);
}

function unknown(endpoint: string, mark: string): never {
  throw new Error(`${endpoint}: no mark "${mark}"`);
}

function choices([first, ...rest]: readonly string[]): string[][] {
  if (first === undefined) return [[]];
  return first.split("|").flatMap((word) => choices(rest).map((words) => [word, ...words]));
}
