import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { cannotScan } from "./exit-codes.ts";

export interface Repository {
  /** The root of the work tree, or the repository itself when it has none. */
  root: string;
}

/** The result of git: its output, or its exit code and message. */
export type GitAnswer = { output: Buffer } | { code: number | null; words: string };

/** Settings of a repository that would start other programs, or change what git prints. */
const safe = ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false"];
const environment = { LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", GIT_TERMINAL_PROMPT: "0" };

function start(directory: string, args: readonly string[]) {
  return spawn("git", ["-C", directory, ...safe, ...args], { env: { ...process.env, ...environment } });
}

/** Runs git to its end. Throws Failure (incomplete) when there is no git. */
export async function tryGit(directory: string, args: readonly string[], input = ""): Promise<GitAnswer> {
  const child = start(directory, args);
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const ended = once(child, "close").catch((error: unknown) => {
    throw cannotScan(`git cannot be started: ${error instanceof Error ? error.message : ""}`);
  }) as Promise<[number | null]>; // the event's arguments
  const [output, words, [code]] = await Promise.all([buffer(child.stdout), text(child.stderr), ended]);
  return code === 0 ? { output } : { code, words: words.trim() };
}

/** Runs git to its end. Throws Failure (incomplete) with git's words when it fails. */
export async function git(directory: string, args: readonly string[], input = ""): Promise<Buffer> {
  const answer = await tryGit(directory, args, input);
  if ("output" in answer) return answer.output;
  throw cannotScan(`git ${args[0] ?? ""} failed: ${answer.words.split("\n")[0] ?? ""}`);
}

/**
 * The texts between NULs that git prints, while it prints them. Throws Failure (incomplete) when
 * git fails.
 */
export async function* gitTexts(
  directory: string,
  args: readonly string[],
  input: AsyncIterable<string> | Iterable<string> = [],
): AsyncGenerator<string> {
  const child = start(directory, args);
  const ended = once(child, "close") as Promise<[number | null]>; // the event's arguments
  const words = text(child.stderr);
  child.stdin.on("error", () => undefined);
  Readable.from(input).pipe(child.stdin);
  let rest = "";
  child.stdout.setEncoding("utf8");
  for await (const chunk of child.stdout as AsyncIterable<string>) {
    const parts = `${rest}${chunk}`.split("\0");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") yield rest;
  const [code] = await ended;
  if (code !== 0) throw cannotScan(`git ${args[0] ?? ""} failed: ${(await words).trim().split("\n")[0] ?? ""}`);
}

/**
 * The repository that a folder belongs to; null outside of one. Throws Failure (incomplete) when
 * git refuses to say, and for a repository when there is no git.
 */
export async function findRepository(directory: string): Promise<Repository | null> {
  const answer = await tryGit(directory, ["rev-parse", "--show-toplevel"]).catch((error: unknown) => {
    if (mayBeInRepository(resolve(directory))) throw error;
    return null;
  });
  if (answer === null) return null;
  if ("output" in answer) return { root: answer.output.toString("utf8").replace(/\n$/, "") };
  if (/not a git repository/i.test(answer.words)) return null;
  if (/work tree/i.test(answer.words)) return { root: directory };
  throw cannotScan(`git cannot read this repository: ${answer.words.split("\n")[0] ?? ""}`);
}

/** Whether a repository could be here, as far as that can be seen without git. */
function mayBeInRepository(directory: string): boolean {
  if (process.env["GIT_DIR"] !== undefined) return true;
  // `HEAD` is in a repository without a work tree.
  if ([".git", "HEAD"].some((name) => existsSync(join(directory, name)))) return true;
  return directory !== dirname(directory) && mayBeInRepository(dirname(directory));
}
