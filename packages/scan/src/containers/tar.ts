import { Parser } from "tar";
import type { ReadEntry } from "tar";
import type { UnpackBudget } from "./limits.ts";
import type { Member } from "./unpack.ts";

/** The files in a tar archive. Throws UnpackLimitError, or an Error when it is damaged. */
export async function untar(bytes: Buffer, budget: UnpackBudget): Promise<Member[]> {
  const members: Member[] = [];
  let failure: Error | undefined;
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry: ReadEntry) => {
      const parts: Buffer[] = [];
      const attempt = (step: () => void): void => {
        try {
          if (failure === undefined) step();
        } catch (error) {
          failure = error as Error; // the budget throws Errors alone
        }
      };
      attempt(() => budget.takeMember());
      entry.on("data", (part: Buffer) =>
        attempt(() => {
          budget.takeBytes(part.length);
          parts.push(part);
        }),
      );
      entry.on("end", () => {
        if (entry.type === "File" || entry.type === "OldFile" || entry.type === "ContiguousFile")
          members.push({ name: entry.path, bytes: Buffer.concat(parts) });
      });
    },
  });
  await new Promise<void>((done, fail) => {
    parser.on("end", () => done());
    parser.on("error", fail);
    parser.end(bytes);
  });
  if (failure !== undefined) throw failure;
  return members;
}
