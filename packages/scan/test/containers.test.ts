import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { TextReader, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";
import { create } from "tar";
import t from "tap";
import { createEngine, scanBytes, UnpackBudget, unpackLimits } from "../src/index.ts";
import type { Rule, UnpackLimits } from "../src/index.ts";
import { engine, exampleOf } from "./harness.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void; // V8's own, by the flag

const token = exampleOf("github-personal-token");
const text = `first\nkey = ${token}\n`;
const folder = t.testdir({});

async function zipOf(files: Record<string, string | Buffer>, password?: string): Promise<Buffer> {
  const writer = new ZipWriter(new Uint8ArrayWriter(), password === undefined ? {} : { password });
  for (const [name, content] of Object.entries(files))
    await writer.add(
      name,
      typeof content === "string" ? new TextReader(content) : new Blob([new Uint8Array(content)]).stream(),
    );
  return Buffer.from(await writer.close());
}

async function tarOf(files: Record<string, string | Buffer>, gzip = false): Promise<Buffer> {
  const source = join(folder, `tar${Math.random()}`);
  mkdirSync(source);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(source, name), content);
  const file = `${source}.tar`;
  await create({ file, cwd: source, gzip }, Object.keys(files));
  return readFileSync(file);
}

const nested = (levels: number): Buffer => (levels === 0 ? Buffer.from(text) : gzipSync(nested(levels - 1)));

async function found(bytes: Buffer, path = "file", limits?: UnpackLimits) {
  const { occurrences, problems, binary } = await scanBytes(engine, bytes, {
    path,
    ...(limits === undefined ? {} : { limits }),
  });
  return {
    paths: occurrences.map(({ location }) => `${location.path}:${location.start_line}`),
    problems: problems.map(({ path, message }) => `${path}: ${message}`),
    binary,
  };
}

await t.test("gzip, zip and tar are opened, and one inside another", async (t) => {
  for (const [name, bytes, path] of [
    ["gzip", gzipSync(text), "file:2"],
    ["zip", await zipOf({ "a/b.txt": text }), "file!/a/b.txt:2"],
    ["tar", await tarOf({ "b.txt": text }), "file!/b.txt:2"],
    ["tar.gz", await tarOf({ "b.txt": text }, true), "file!/b.txt:2"],
    ["zip in tar.gz", await tarOf({ "c.jar": await zipOf({ "b.txt": text }) }, true), "file!/c.jar!/b.txt:2"],
    ["four levels", nested(4), "file:2"],
  ] as const)
    t.same(await found(bytes), { paths: [path], problems: [], binary: [] }, name);
});

await t.test("a container is known by its content, whatever its name is", async (t) => {
  for (const path of ["a.docx", "a.jar", "a.whl", "a.txt"])
    t.same((await found(await zipOf({ x: text }), path)).paths, [`${path}!/x:2`]);
});

await t.test("a fifth level is named and not opened", async (t) => {
  t.same(await found(nested(5)), {
    paths: [],
    problems: ["file: is a container inside 4 others: not opened"],
    binary: ["file"],
  });
});

/** Finds a text that is no credential, so that packed files of it may stand here. */
const marker: Rule = {
  id: "marker",
  kind: "marker",
  description: "a text for tests",
  reference: "https://example.com",
  keywords: ["coffer-marker-"],
  pattern: /coffer-marker-[a-z]{8}/dg,
  confidence: "high",
  examples: { positive: () => [], negative: () => [] },
};

await t.test("bzip2 and xz are opened, also of several streams", async (t) => {
  const markers = createEngine([marker]);
  for (const [name, base64, line] of [
    ["bzip2", "QlpoOTFBWSZTWftH6swAAAhRgAAQAAI/6pwAIAAiIDJo9NEKGmmACuymirNxyEmFybgOqendfF3JFOFCQ+0fqzA=", 2],
    [
      "bzip2 of two streams",
      "QlpoOTFBWSZTWRPK/Y0AAADBgAAQASAcACAAIYAMAycu4u5IpwoSAnlfsaBCWmg5MUFZJlNZSdfqjAAAA9GAABAAAj/KkAAgACGoaZMMoQAAKQYvEek4EeImXGfF3JFOFCQSdfqjAA==",
      2,
    ],
    [
      "xz",
      "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAcZmlyc3QKY29mZmVyLW1hcmtlci1hYmNkZWZnaAoAAAAAs6i2OdvzYwUAATUdRBux4R+2830BAAAAAARZWg==",
      2,
    ],
  ] as const) {
    const { occurrences, problems } = await scanBytes(markers, Buffer.from(base64, "base64"), { path: name });
    t.same(problems, [], name);
    t.match(occurrences, [{ rule_id: "marker", location: { start_line: line, start_column: 1 } }], name);
  }
});

await t.test("what is damaged or under a password is named", async (t) => {
  const gzip = gzipSync(Buffer.from(text.repeat(100)));
  t.match((await found(gzip.subarray(0, gzip.length - 30))).problems, [/^file: is no whole gzip file/]);
  t.match((await found(await zipOf({ "a.txt": text }, "password"))).problems, ["file!/a.txt: is under a password"]);
  const zip = await zipOf({ "a.txt": text.repeat(50) });
  zip.fill(0xaa, 40, 60);
  t.match((await found(zip)).problems, [/^file!\/a.txt: cannot be unpacked/]);
});

await t.test("a bomb ends in a problem, not in memory", async (t) => {
  const most: UnpackLimits = { ...unpackLimits, bytes: 4 * 1024 * 1024 };
  const zeros = Buffer.alloc(40 * 1024 * 1024);
  const bombs = [
    ["gzip", gzipSync(zeros)],
    ["gzip twice", gzipSync(gzipSync(zeros))],
    ["zip", await zipOf({ zeros })],
    ["tar.gz", await tarOf({ zeros }, true)],
  ] as const;
  // Without what making the bombs left behind.
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (const [name, bomb] of bombs)
    t.match((await found(bomb, name, most)).problems, [/: unpacks to more than 4 MiB$/], name);
  t.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024);
  t.match((await found(gzipSync(zeros))).problems, [/unpacks to more than 8 MiB/], "by its ratio");
  const many = await zipOf(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}`, "x"])));
  t.match((await found(many, "many", { ...unpackLimits, members: 20 })).problems, [/more than 20 files/]);
});

await t.test("an archive of bombs is given up at the first, and not unpacked anew for each", async (t) => {
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
  const bombs = await zipOf(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}.gz`, bomb])));
  const { problems } = await found(bombs, "bombs", { ...unpackLimits, bytes: 4 * 1024 * 1024 });
  t.match(problems, [/^bombs!\/0.gz: unpacks to more than 4 MiB$/, /^bombs: unpacks to more than 4 MiB$/]);
  t.equal(problems.length, 2);
});

await t.test("files may share one bound", async (t) => {
  const budget = new UnpackBudget(1, { ...unpackLimits, ratioFrom: 1024 * 1024 });
  const file = gzipSync(Buffer.alloc(700 * 1024));
  const problems: string[] = [];
  for (const path of ["first", "second", "third"]) {
    const result = await scanBytes(engine, file, { path, budget });
    problems.push(...result.problems.map(({ path: at }) => at));
  }
  t.same(problems, ["second", "third"]);
});

await t.test("a binary file is counted and not searched, unless asked for", async (t) => {
  const binary = Buffer.concat([Buffer.from([0, 1, 2, 3, 0, 0xff, 7]), Buffer.from(text), Buffer.alloc(50)]);
  t.same(await found(binary), { paths: [], problems: [], binary: ["file"] });
  const searched = await scanBytes(engine, binary, { path: "file", binary: true, showSecrets: true });
  t.match(searched.occurrences, [{ secret: token }]);
  const wide = Buffer.concat([
    Buffer.alloc(64),
    Buffer.from([1, 2, 0, 0]),
    Buffer.from(token, "utf16le"),
    Buffer.alloc(64),
    Buffer.from(token.repeat(3)),
  ]);
  t.match((await scanBytes(engine, wide, { path: "file", binary: true, showSecrets: true })).occurrences, [
    { secret: token },
  ]);
});
