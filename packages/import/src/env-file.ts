/** The variables of a dotenv file, or the first line that is not valid. */
export type EnvFile = { variables: Map<string, string> } | { wrongLine: number };

const assignment = /^\s*(?:export\s+)?([^\s=#'"`]+)\s*=[^\S\n]*(.*)$/s;

/**
 * Reads the text of a dotenv file: quotes of three kinds, also over several lines, `\n` in double
 * quotes, comments. A later line for the same name counts. Node's `util.parseEnv` reads the same,
 * but it takes the next line for a value of white space, and `export` for a part of some names.
 */
export function readEnvFile(text: string): EnvFile {
  const variables = new Map<string, string>();
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name, rest = ""] = assignment.exec(line) ?? [];
    if (name === undefined) return { wrongLine: at + 1 };
    const quote = /^["'`]/.exec(rest)?.[0];
    const quoted = quote === undefined ? null : untilQuote(lines, at, rest.slice(1), quote);
    if (quoted === null) {
      // A quote that no line closes is part of the value, and then a # starts no comment.
      variables.set(name, quote === undefined ? rest.replace(/#.*$/s, "").trim() : rest);
      continue;
    }
    variables.set(name, quote === '"' ? quoted.value.replaceAll("\\n", "\n") : quoted.value);
    at = quoted.last;
  }
  return { variables };
}

/** The text up to the closing quote; null when no later line has one. */
function untilQuote(lines: readonly string[], first: number, start: string, quote: string) {
  const parts: string[] = [];
  for (let last = first; last < lines.length; last += 1) {
    const part = last === first ? start : (lines[last] ?? "");
    const end = part.indexOf(quote);
    parts.push(end === -1 ? part : part.slice(0, end));
    if (end !== -1) return { value: parts.join("\n"), last };
  }
  return null;
}
