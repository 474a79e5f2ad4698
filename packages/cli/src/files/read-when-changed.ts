import { stat } from "node:fs/promises";

/**
 * Reads a file again only after another process has replaced it. Files of Coffer are replaced, not
 * written in place, so another content has another inode or time.
 */
export function readWhenChanged<T>(path: string, read: () => Promise<T>): () => Promise<T> {
  let held: { mark: string; content: T } | undefined;
  return async () => {
    const mark = await markOf(path);
    if (mark !== undefined && held?.mark === mark) return held.content;
    const content = await read();
    held = mark === undefined ? undefined : { mark, content };
    return content;
  };
}

async function markOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}
