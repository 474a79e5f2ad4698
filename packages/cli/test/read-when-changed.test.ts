import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { readWhenChanged } from "../src/files/read-when-changed.ts";

await t.test("a file is read again when another process has replaced it, and then only", async (t) => {
  const path = join(testDirectory(t), "histories.json");
  let reads = 0;
  const read = readWhenChanged(path, async () => {
    reads += 1;
    return readFile(path, "utf8").catch(() => "none");
  });
  const replace = async (text: string): Promise<void> => {
    await writeFile(`${path}.tmp`, text);
    await rename(`${path}.tmp`, path);
  };
  t.equal(await read(), "none");
  await replace("one");
  t.equal(await read(), "one");
  const before = reads;
  t.equal(await read(), "one");
  t.equal(reads, before);
  await replace("two");
  t.equal(await read(), "two", "of the same size");
  await rm(path);
  t.equal(await read(), "none");
});
