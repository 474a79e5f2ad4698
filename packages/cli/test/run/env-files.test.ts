import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { readEnvFiles } from "../../src/run/env-files.ts";

const file = join(testDirectory(t), "test.env");
const read = async (text: string): Promise<NodeJS.Dict<string>> => {
  writeFileSync(file, text);
  return readEnvFiles([file]);
};

await t.test("what a dotenv file may say", async (t) => {
  t.same(await read("\uFEFFA=1\r\n\r\n  # a comment\r\nexport B = two words # and why\nC=\nD='#'\n"), {
    A: "1",
    B: "two words",
    C: "",
    D: "#",
  });
  t.same(await read('KEY="-----BEGIN\nno assignment\n-----END"\nAFTER=x\n'), {
    KEY: "-----BEGIN\nno assignment\n-----END",
    AFTER: "x",
  });
  t.same(await read("QUOTE='\nAFTER=x\n"), { QUOTE: "'", AFTER: "x" });
  t.same(await read("EMPTY = \nAFTER=x\nexport LAST="), { EMPTY: "", AFTER: "x", LAST: "" });
});

await t.test("a line that sets nothing is named by its number, and its text is not shown", async (t) => {
  for (const [text, line] of [
    ["A=1\ns3cret\n", 2],
    ["export\n", 1],
    ["A: s3cret\n", 1],
    ["=s3cret\n", 1],
    ["A='one\ntwo'\nthree s3cret\n", 3],
  ] as const) {
    const error: unknown = await read(text).catch((caught: unknown) => caught);
    t.match(error, { exitCode: 2, message: new RegExp(`^line ${line} of .*test\\.env is not NAME=value`) }, text);
    t.notMatch(String(error), "s3cret");
  }
});
