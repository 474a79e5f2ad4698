import { StartupError } from "./startup-error.ts";

export interface Arguments {
  help: boolean;
  /** Empty the data directory first. */
  reset: boolean;
  /** Do not ask for confirmation. */
  yes: boolean;
  /** Given by the launcher only: it restarts the server after an unexpected end. */
  restarted: boolean;
}

/** Parses the arguments after `npm start --`. Throws StartupError. */
export function readArguments(list: readonly string[]): Arguments {
  const known = new Set(["--help", "-h", "--reset", "--yes", "--restarted"]);
  const unknown = list.find((argument) => !known.has(argument));
  if (unknown !== undefined) throw new StartupError(`no argument "${unknown}": --help, --reset, --yes`);
  const has = (name: string): boolean => list.includes(name);
  return { help: has("--help") || has("-h"), reset: has("--reset"), yes: has("--yes"), restarted: has("--restarted") };
}
