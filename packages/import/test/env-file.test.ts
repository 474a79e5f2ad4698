import { parseEnv } from "node:util";
import t from "tap";
import { readEnvFile } from "../src/env-file.ts";

const node = (text: string): Record<string, string | undefined> => ({ ...parseEnv(text) });
const ours = (text: string): unknown => {
  const read = readEnvFile(text);
  return "variables" in read ? Object.fromEntries(read.variables) : read;
};

void t.test("a dotenv file is read as Node reads it", (t) => {
  const files = [
    "A=1",
    "A=1\r\nB=2\r\n",
    "# first\n\n  A = 1  # last\nexport B='two words'\nC=\"x\\ny\"\nD=`a\"b'c`\nE=",
    'KEY="-----BEGIN\nline\n-----END"\nNEXT=1',
    "A='it''s'\nB=\"#no comment\" # one\nC=a#b\nD='\\n'",
    "A=1\nA=2",
    "URL=postgres://a:b@c/d?x=1&y=2",
    'OPEN="not closed\nB=2',
    "HALF='a#b \nB=2",
  ];
  for (const file of files) t.same(ours(file), node(file), JSON.stringify(file));
  t.end();
});

void t.test("the first line that sets nothing is named", (t) => {
  t.same(ours("A=1\n\nhello\nB=2"), { wrongLine: 3 });
  t.same(ours("=1"), { wrongLine: 1 });
  t.same(ours('A="x\ny"\nz'), { wrongLine: 3 }, "after a value of two lines");
  t.same(ours("\uFEFFA=1"), { A: "1" });
  t.same(ours(""), {});
  t.end();
});
