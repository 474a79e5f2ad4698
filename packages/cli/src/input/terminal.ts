import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { ReadStream } from "node:tty";
import { Failure, usage } from "../failure.ts";
import { errorCode } from "../files/error-code.ts";
import { visibleLines } from "../output/output.ts";

const device = "/dev/tty";
const [interrupt, endOfInput, eraseLine, escape] = [0x03, 0x04, 0x15, 0x1b];

/**
 * Prompts at the terminal, whatever stdin is, and returns the lines without showing them. Discards
 * lines that were typed before the first prompt and prints their number: the rest of a paste must
 * not become a password. Input after the last answer's line break stays for the shell. Throws
 * Failure: usage, with `otherWays`, without a terminal; with exit 130 on Ctrl-C; and what `check`
 * throws, which receives each answer before the next prompt.
 */
export function promptHidden(
  questions: readonly string[],
  otherWays: string,
  check: (answer: string) => void = () => undefined,
): string[] {
  const input = openTerminal(`no terminal to prompt for "${questions.join(", ")}": ${otherWays}`);
  const mode = new ReadStream(openSync(device, constants.O_RDWR | constants.O_NOCTTY));
  try {
    mode.setRawMode(true);
    const dropped = takeWaiting();
    if (dropped > 0) writeSync(input, `(not read, because typed before this question: lines: ${dropped})\n`);
    return questions.map((question) => {
      writeSync(input, `${visibleLines(question)}: `);
      const line = readAnswer(input);
      check(line);
      return line;
    });
  } finally {
    mode.setRawMode(false);
    mode.destroy();
    closeSync(input);
  }
}

/** Whether a person can be prompted. */
export function hasTerminal(): boolean {
  try {
    closeSync(openSync(device, constants.O_RDWR | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}

function openTerminal(without: string): number {
  try {
    return openSync(device, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    throw usage(without);
  }
}

/** Discards the pending input of the terminal; returns the number of lines. */
function takeWaiting(): number {
  const input = openSync(device, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  const chunk = Buffer.alloc(4096);
  let taken = "";
  try {
    for (;;) {
      const count = readSync(input, chunk, 0, chunk.length, null);
      if (count === 0) break;
      taken += chunk.toString("latin1", 0, count);
    }
  } catch (error) {
    if (errorCode(error) !== "EAGAIN") throw error;
  } finally {
    closeSync(input);
  }
  return taken === "" ? 0 : taken.replace(/[\r\n]+$/, "").split(/[\r\n]+/).length;
}

/** Reads an answer, and starts a new line on the terminal, also after an error. */
function readAnswer(input: number): string {
  try {
    return readHidden(input);
  } finally {
    writeSync(input, "\n");
  }
}

/** Reads one byte at a time, so that nothing after the line break is consumed. */
function readHidden(input: number): string {
  const byte = Buffer.alloc(1);
  let line: number[] = [];
  for (;;) {
    const code = readSync(input, byte, 0, 1, null) === 0 ? endOfInput : (byte[0] as number);
    if (code === 0x0a || code === 0x0d) break;
    if (code === interrupt) throw new Failure(130, "stopped");
    if (code === endOfInput && line.length === 0) throw usage("nothing was typed");
    if (code === endOfInput) break;
    if (code === 0x08 || code === 0x7f) line = withoutLast(line);
    else if (code === eraseLine) line = [];
    else if (code === escape) skipSequence(input, byte);
    else line.push(code);
  }
  return new StringDecoder("utf8").end(Buffer.from(line));
}

/** The line without its last character, which may be several bytes of UTF-8. */
function withoutLast(line: readonly number[]): number[] {
  let length = line.length - 1;
  while (length > 0 && ((line[length] as number) & 0xc0) === 0x80) length -= 1;
  return line.slice(0, Math.max(length, 0));
}

/** Skips the escape sequence of a key or a bracketed paste: `ESC [ … letter or ~`. */
function skipSequence(input: number, byte: Buffer): void {
  readSync(input, byte, 0, 1, null);
  if (byte[0] !== 0x5b && byte[0] !== 0x4f) return;
  do readSync(input, byte, 0, 1, null);
  while ((byte[0] as number) < 0x40);
}
