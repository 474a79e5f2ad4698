import t from "tap";
import { seededRandom } from "../../../scan/src/examples/random.ts";
import type { Call, CommandRow } from "../../src/command-row.ts";
import { runProgram } from "../../src/program.ts";
import { groups } from "../../src/rows/index.ts";
import { readPlainWords } from "../../src/rows/plain-words.ts";

const rows = groups.flatMap(([, each]) => each);
const scan = rows.find(({ name }) => name === "scan") as CommandRow; // docs.test.ts checks that it is there
const subcommands = ["help", "rules", "baseline", "install-hook"];

/** The words as commander reads them. */
async function byCommander(words: readonly string[]): Promise<Pick<Call<object>, "args" | "options"> | undefined> {
  let called: Call<object> | undefined;
  scan.load = () =>
    Promise.resolve((call: Call<object>) => {
      called = call;
      return Promise.resolve();
    });
  await runProgram(["scan", ...words]);
  return called === undefined ? undefined : { args: called.args, options: called.options };
}

const plain: readonly (readonly string[])[] = [
  [],
  ["src", "config.yaml"],
  ["--staged"],
  ["--staged", "--format", "github"],
  ["--range", "origin/main..HEAD", "--format", "sarif"],
  ["--history", "--reflog", "--no-git-ignore"],
  ["--stdin", "--path", "a b.env"],
  ["--enable", "a", "--disable", "b", "--enable", "c"],
  ["--no-baseline"],
  ["--baseline", "known.json", "src"],
  ["src", "--threads", "2", "lib", "--max-file-mb", "0"],
];

await t.test("plain words are read as commander reads them", async (t) => {
  for (const words of plain) {
    const call = readPlainWords(scan, words, subcommands);
    t.ok(call, words.join(" "));
    t.same(call, await byCommander(words), words.join(" "));
  }
});

await t.test("help, subcommands and mistakes are left to commander", (t) => {
  for (const words of [
    ["--help"],
    ["-h"],
    ["rules"],
    ["rules", "list"],
    ["baseline", "create"],
    ["install-hook"],
    ["help"],
    ["--format", "xml"],
    ["--format"],
    ["--range", "--staged"],
    ["--format=json"],
    ["--staged", "--", "src"],
    ["--unknown"],
    ["-"],
    [""],
  ])
    t.equal(readPlainWords(scan, words, subcommands), null, words.join(" "));
  t.end();
});

await t.test("any series of words that counts as plain gives what commander gives", async (t) => {
  const random = seededRandom(3);
  const flags = scan.options.map(({ flags: text }) => text.split(" ", 1)[0] ?? "");
  const values = ["src", "json", "sarif", "low", "1", "a..b", "--", "-1", "--no-baseline", "x=y", "rules"];
  let read = 0;
  for (let round = 0; round < 600; round += 1) {
    const words = Array.from({ length: random.below(6) }, () => {
      const list = random.below(2) === 0 ? flags : values;
      return list[random.below(list.length)] ?? "";
    });
    const call = readPlainWords(scan, words, subcommands);
    if (call === null) continue;
    read += 1;
    t.same(call, await byCommander(words), words.join(" "));
  }
  t.ok(read > 100, `${read} were plain`);
});
