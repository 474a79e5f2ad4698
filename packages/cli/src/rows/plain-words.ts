import type { CommandRow, OptionRow } from "../command-row.ts";

/** The arguments of a command, apart from the environment. */
export interface PlainCall {
  args: string[];
  options: Record<string, unknown>;
}

/**
 * Reads the words behind a command's name as commander does, without loading it: each must be an
 * argument, or a known option in its long form with its value as the next word. Returns null for
 * all other words (help, subcommands, mistakes), which commander must read. `subcommands` are the
 * second words of other commands.
 */
export function readPlainWords(
  { options: rows }: CommandRow,
  words: readonly string[],
  subcommands: readonly string[],
): PlainCall | null {
  const known = new Map(rows.map((row) => [flagOf(row), row]));
  const call: PlainCall = { args: [], options: defaultsOf(rows, known) };
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] as string;
    const row = known.get(word);
    if (row === undefined) {
      if (word === "" || word.startsWith("-") || subcommands.includes(word)) return null;
      call.args.push(word);
    } else if (!takesValue(row)) call.options[nameOf(word)] = !word.startsWith("--no-");
    else {
      index += 1;
      const value = words[index] ?? "";
      if (value === "" || value.startsWith("-") || row.choices?.includes(value) === false) return null;
      const before = call.options[nameOf(word)];
      const values = Array.isArray(before) ? (before as string[]) : []; // put there by this loop
      call.options[nameOf(word)] = row.repeated === true ? [...values, value] : value;
    }
  }
  return call;
}

/** The presets, and true for an option that can only be turned off. */
function defaultsOf(rows: readonly OptionRow[], known: ReadonlyMap<string, OptionRow>): Record<string, unknown> {
  const defaults: Record<string, unknown> = {};
  for (const row of rows) {
    const flag = flagOf(row);
    if (row.preset !== undefined) defaults[nameOf(flag)] = row.preset;
    if (flag.startsWith("--no-") && !known.has(flag.replace("--no-", "--"))) defaults[nameOf(flag)] = true;
  }
  return defaults;
}

function flagOf({ flags }: OptionRow): string {
  return flags.split(" ", 1)[0] as string; // a split text has a first part
}

function takesValue({ flags }: OptionRow): boolean {
  return flags.includes("<");
}

/** The name under which an option's value is passed: `gitIgnore` for `--no-git-ignore`. */
function nameOf(flag: string): string {
  return flag.replace(/^--(?:no-)?/, "").replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
