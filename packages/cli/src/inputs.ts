import { readFile } from "node:fs/promises";
import { isatty } from "node:tty";
import { checkNewPassword, CofferError } from "@coffer/sdk";
import { exitCodes, Failure, usage } from "./failure.ts";
import { askHidden } from "./terminal.ts";

/** All of stdin as text, exactly. Throws Failure (usage) when it is no UTF-8. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return textOf(Buffer.concat(chunks), "stdin");
}

/** A text without one line break at its end, which `echo` adds and nobody means. */
export function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** A file that an option names, exactly. Throws Failure (usage) when it cannot be read. */
export async function readNamedFile(path: string): Promise<string> {
  try {
    return textOf(await readFile(path), path);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw usage(`${path} cannot be read: ${error.message}`);
    throw error;
  }
}

/** Whether stdin is a person's terminal, and so no data. */
export function stdinIsTerminal(): boolean {
  return isatty(0);
}

/** Bytes as UTF-8 text, exactly. Throws Failure (usage) when they are none. */
export function textOf(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usage(`${what} is not UTF-8 text: encode it first, for example with base64`);
  }
}

/** A token from COFFER_TOKEN, stdin, or a person at the terminal; undefined when stdin is empty. */
export async function readToken(env: NodeJS.ProcessEnv, question: string): Promise<string | undefined> {
  const given = env["COFFER_TOKEN"]?.trim();
  if (given !== undefined && given !== "") return given;
  if (!stdinIsTerminal()) return (await readStdin()).trim() || undefined;
  return askHidden([question], "give it on stdin or in COFFER_TOKEN")[0]?.trim();
}

/** The recovery key: from a file's first line, else asked for at the terminal. Throws Failure (usage). */
export async function readRecoveryKey(file: string | undefined): Promise<string> {
  if (file !== undefined) return firstLine(await readNamedFile(file)).trim();
  return (askHidden(["Recovery key"], "give it with --recovery-key-file")[0] ?? "").trim();
}

/** A code of the second factor: a file's first line. Throws Failure (usage) when it cannot be read. */
export async function readCode(file: string): Promise<string> {
  return firstLine(await readNamedFile(file)).trim();
}

/**
 * The password: from `--password-file` (its first line), else COFFER_PASSWORD, else asked for at the terminal, twice
 * where it is new, as `what`; without a terminal the message names the other `ways`. Throws Failure (usage) for an empty one, CofferError for a new one that is too short.
 */
export async function readPassword(
  file: string | undefined,
  env: NodeJS.ProcessEnv,
  isNew: boolean,
  what = "Password",
  ways = "--password-file or COFFER_PASSWORD",
): Promise<string> {
  const check = (password: string): void => {
    if (password === "") throw usage("the password is empty");
    if (isNew) checkNewPassword(password);
  };
  const given = file === undefined ? env["COFFER_PASSWORD"] : firstLine(await readNamedFile(file));
  if (given === undefined) return askPassword(isNew, what, `give it with ${ways}`, check);
  check(given);
  return given;
}

/**
 * What `change` gives, which proves the password of the person who is logged in. Throws Failure (not authenticated) that speaks
 * of the password and says what was not done: "travel mode is still on".
 */
export async function withOwnPassword<T>(change: Promise<T>, undone: string): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "invalid_credentials") throw error;
    throw new Failure(exitCodes.notAuthenticated, `the password is not right: ${undone}`);
  }
}

function askPassword(isNew: boolean, what: string, otherWays: string, check: (password: string) => void): string {
  const [first, second] = askHidden(isNew ? [what, `${what} again`] : [what], otherWays, check);
  if (isNew && first !== second) throw usage("the two passwords were not the same; nothing was done");
  return first ?? "";
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? "";
}
