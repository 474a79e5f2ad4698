import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import t from "tap";
import { readImportFile } from "../src/transfer/read-import-file.ts";

const table = "name,url,username,password\nn,https://a.example,u,p\n";
const mebibyte = 1024 * 1024;

await t.test("a pipe by its name is read as a file is", async (t) => {
  const pipe = join(t.testdir({}), "pipe");
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("sh", ["-c", 'exec printf "$1" > "$0"', pipe, table], { stdio: "ignore" });
  t.teardown(() => void writer.kill("SIGKILL"));
  t.match(await readImportFile(pipe, {}), { format: "chrome-csv", records: [{ payload: { name: "n" } }] });
});

await t.test("what has no end is given up at the limit, and its writer is let go", async (t) => {
  const pipe = join(t.testdir({}), "pipe");
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("sh", ["-c", 'exec yes > "$0"', pipe], { stdio: "ignore" });
  t.teardown(() => void writer.kill("SIGKILL"));
  const ended = once(writer, "exit");
  await t.rejects(readImportFile(pipe, {}, mebibyte), { exitCode: 2, message: /pipe is larger than/ });
  await ended;
});

await t.test("the last byte that is allowed is read, and not one more", async (t) => {
  const file = join(t.testdir({ "a.csv": table }), "a.csv");
  t.match(await readImportFile(file, {}, table.length), { records: [{}] });
  await t.rejects(readImportFile(file, {}, table.length - 1), { name: "Failure", exitCode: 2 });
  await t.rejects(readImportFile(join(file, "x"), {}), { exitCode: 2, message: /cannot be read/ });
});
