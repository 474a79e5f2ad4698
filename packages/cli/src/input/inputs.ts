import { readFile } from "node:fs/promises";
import { checkNewPassword, CofferError } from "@coffer/sdk";
import { exitCodes, Failure, usage } from "../failure.ts";
import { stdinIsTerminal } from "./stdin-is-terminal.ts";
import { promptHidden } from "./terminal.ts";

/** All of stdin as text, unchanged. Throws Failure (usage) when it is not UTF-8. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer); // no encoding is set
  return textOf(Buffer.concat(chunks), "stdin");
}

/** The text without one final line break, which `echo` adds. */
export function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/**
 * The content of a file that an option names, unchanged. Throws Failure (usage) when it cannot be
 * read.
 */
export async function readNamedFile(path: string): Promise<string> {
  try {
    return textOf(await readFile(path), path);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw usage(`${path} cannot be read: ${error.message}`);
    throw error;
  }
}

/** Bytes as UTF-8 text, unchanged. Throws Failure (usage) for other bytes. */
export function textOf(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usage(`${what} is not UTF-8 text: encode it first, for example with base64`);
  }
}

/** A token from COFFER_TOKEN, stdin, or the terminal; undefined when stdin is empty. */
export async function readToken(env: NodeJS.ProcessEnv, question: string): Promise<string | undefined> {
  const given = env["COFFER_TOKEN"]?.trim();
  if (given !== undefined && given !== "") return given;
  if (!stdinIsTerminal()) return (await readStdin()).trim() || undefined;
  return promptHidden([question], "give it on stdin or in COFFER_TOKEN")[0]?.trim();
}

/** The recovery key from a file's first line, else from the terminal. Throws Failure (usage). */
export async function readRecoveryKey(file: string | undefined): Promise<string> {
  if (file !== undefined) return firstLine(await readNamedFile(file)).trim();
  return (promptHidden(["Recovery key"], "give it with --recovery-key-file")[0] ?? "").trim();
}

/**
 * A code of the second factor: a file's first line. Throws Failure (usage) when it cannot be read.
 */
export async function readCode(file: string): Promise<string> {
  return firstLine(await readNamedFile(file)).trim();
}

/**
 * The password from `--password-file` (its first line), else COFFER_PASSWORD, else from the
 * terminal, twice for a new one. `what` names it; without a terminal the message lists the other
 * `ways`. Throws Failure (usage) for an empty one, CofferError for a short new one.
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
  if (given === undefined) return promptPassword(isNew, what, `give it with ${ways}`, check);
  check(given);
  return given;
}

/**
 * Awaits `change`, which proves the password of the logged-in person. Throws Failure (not
 * authenticated) that names the password and says what was not done: "travel mode is still on".
 */
export async function withOwnPassword<T>(change: Promise<T>, undone: string): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "invalid_credentials") throw error;
    throw new Failure(exitCodes.notAuthenticated, `the password is not right: ${undone}`);
  }
}

function promptPassword(isNew: boolean, what: string, otherWays: string, check: (password: string) => void): string {
  const [first, second] = promptHidden(isNew ? [what, `${what} again`] : [what], otherWays, check);
  if (isNew && first !== second) throw usage("the two passwords were not the same; nothing was done");
  return first ?? "";
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? "";
}
