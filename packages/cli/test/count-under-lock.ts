// Adds one to the number in a file, as often as told, each time under the lock.
import { readFileSync, writeFileSync } from "node:fs";
import { withFileLock } from "../src/files/file-lock.ts";

const [lock = "", file = "", times = "0"] = process.argv.slice(2);
for (let turn = 0; turn < Number(times); turn += 1)
  await withFileLock(lock, async () => {
    const before = Number(readFileSync(file, "utf8"));
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(file, String(before + 1));
  });
