import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";

// `npm run pictures` makes them; this says whether the document, the tests and the files name the same ones.

const tests = dirname(fileURLToPath(import.meta.url));
const docs = join(tests, "../../../docs");
const taken = readdirSync(tests)
  .filter((name) => name.endsWith(".test.ts"))
  .flatMap((name) => [...readFileSync(join(tests, name), "utf8").matchAll(/\bpicture\(\w+, "([\w-]+)"\)/g)])
  .map(([, name = ""]) => `${name}.png`)
  .sort();
const shown = [...readFileSync(join(docs, "console.md"), "utf8").matchAll(/!\[[^\]]+\]\(pictures\/([\w-]+\.png)\)/g)]
  .map(([, name = ""]) => name)
  .sort();

t.same(readdirSync(join(docs, "pictures")).sort(), taken, "each picture is made by a test");
t.same(shown, taken, "and is in the document");
t.end();
