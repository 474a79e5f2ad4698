import { zlib } from "../checks/builtin.ts";
import type { ContainerKind } from "./container-kind.ts";
import type { UnpackBudget } from "./limits.ts";

/** A file inside a container; without a name where the container holds just one. */
export interface Member {
  name: string | undefined;
  bytes: Buffer;
}

/** A member that cannot be read, such as one under a password. */
export interface UnreadableMember {
  name: string;
  message: string;
}

export type Unpacked = AsyncIterable<Member | UnreadableMember> | Iterable<Member | UnreadableMember>;

/** The files in a container. Iterating throws UnpackLimitError, or an Error when the container is damaged. */
export async function unpack(kind: ContainerKind, bytes: Buffer, budget: UnpackBudget): Promise<Unpacked> {
  switch (kind) {
    case "gzip":
      return single(gunzip(bytes, budget), budget);
    case "bzip2":
      return single(await (await import("./bzip2.ts")).bunzip2(bytes, budget), budget);
    case "xz":
      return single(await (await import("./xz.ts")).unxz(bytes, budget), budget);
    case "zip":
      return (await import("./zip.ts")).unzip(bytes, budget);
    case "tar":
      return (await import("./tar.ts")).untar(bytes, budget);
  }
}

function single(bytes: Buffer, budget: UnpackBudget): Member[] {
  budget.takeMember();
  budget.takeBytes(bytes.length);
  return [{ name: undefined, bytes }];
}

function gunzip(bytes: Buffer, budget: UnpackBudget): Buffer {
  try {
    return zlib().gunzipSync(bytes, { maxOutputLength: Math.max(1, budget.left) });
  } catch (error) {
    if (error instanceof RangeError) throw budget.tooMuch();
    throw error;
  }
}
