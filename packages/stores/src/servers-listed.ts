import { execFileSync } from "node:child_process";
import { basename } from "node:path";

/** The output of `ps` for all processes: lines of an id and a text. */
interface Listings {
  /** `ps -axo pid=,comm=`: the program, on some systems with its path. */
  programs: string;
  /** `ps -axo pid=,command=`: the command line, or the title that the process sets. */
  commands: string;
}

/** The ids of processes that run one of `programs` with `directory`, or a path below it, as an argument. */
export function serversListed(directory: string, programs: ReadonlySet<string>, listings = listAll()): number[] {
  const running = linesOf(listings.programs);
  return [...linesOf(listings.commands)].flatMap(([pid, command]) => {
    const program = running.get(pid);
    if (program === undefined || !programs.has(basename(program))) return [];
    // The program's own location is not its working directory.
    const given = command.startsWith(program) ? command.slice(program.length) : command;
    return names(given, directory) ? [pid] : [];
  });
}

function listAll(): Listings {
  const list = (field: string): string => execFileSync("ps", ["-axo", `pid=,${field}=`], { encoding: "utf8" });
  return { programs: list("comm"), commands: list("command") };
}

function linesOf(listing: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const line of listing.split("\n")) {
    const [, pid, text] = /^\s*(\d+)\s+(.*?)\s*$/.exec(line) ?? [];
    if (pid !== undefined && text !== undefined) found.set(Number(pid), text);
  }
  return found;
}

/** Whether a path is in a text as a whole, not as a part of another name. */
function names(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const [before = " ", after = " "] = [text[at - 1], text[at + path.length]];
    if (/[\s=]/.test(before) && /[\s/]/.test(after)) return true;
  }
  return false;
}
