import { readFileSync } from "node:fs";
import { ValueProblem, type Variable } from "./variable.ts";

/**
 * The text of a variable, from `<NAME>` or from the file that `<NAME>_FILE` names, without
 * surrounding white space. `undefined` for a missing or empty variable. Throws `ValueProblem` when
 * both are given, or when the file cannot be read or is empty.
 */
export function readText(env: NodeJS.ProcessEnv, { name }: Pick<Variable<unknown>, "name">): string | undefined {
  const direct = nonEmpty(env[name]);
  const source = nonEmpty(env[`${name}_FILE`]);
  if (source === undefined) return direct;
  if (direct !== undefined) throw new ValueProblem(`is given twice: take ${name} or ${name}_FILE`);
  const text = nonEmpty(fileText(name, source));
  if (text === undefined) throw new ValueProblem(`cannot be read: the file of ${name}_FILE is empty`);
  return text;
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}

function fileText(name: string, source: string): string {
  try {
    return readFileSync(source, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new ValueProblem(`cannot be read: ${name}_FILE names ${source} (${reason})`);
  }
}
