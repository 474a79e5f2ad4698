/** The variables of a dotenv file, or the first line that is not valid. */
export type EnvFile = { variables: Map<string, string> } | { wrongLine: number };

const assignment = /^\s*(?:export\s+)?([^\s=#'"`]+)\s*=[^\S\n]*(.*)$/;

/**
 * Reads the text of a dotenv file as Node's `util.parseEnv` does: quotes of three kinds, also over several lines, `\n` in
 * double quotes, comments. A later line for the same name counts.
 */
export function readEnvFile(text: string): EnvFile {
  const variables = new Map<string, string>();
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const [, name, rest = ""] = assignment.exec(line) ?? [];
    if (name === undefined) return { wrongLine: at + 1 };
    const quote = /^["'`]/.exec(rest)?.[0];
    const quoted = quote === undefined ? null : untilQuote(lines, at, rest.slice(1), quote);
    if (quoted === null) {
      variables.set(name, rest.replace(/#.*$/, "").trim());
      continue;
    }
    variables.set(name, quote === '"' ? quoted.value.replaceAll("\\n", "\n") : quoted.value);
    at = quoted.last;
  }
  return { variables };
}

/** The text up to the closing quote; null when no later line has one. */
function untilQuote(lines: readonly string[], first: number, start: string, quote: string) {
  let value = start;
  for (let last = first; ;) {
    const end = value.indexOf(quote);
    if (end !== -1) return { value: value.slice(0, end), last };
    last += 1;
    const next = lines[last];
    if (next === undefined) return null;
    value += `\n${next}`;
  }
}
