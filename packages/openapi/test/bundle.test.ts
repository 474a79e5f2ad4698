import { readFile } from "node:fs/promises";
import t from "tap";
import { bundledDescription, bundleFile } from "../src/bundle.ts";
import { describe, loadDescription } from "../src/description.ts";
import { readDocument } from "../src/document.ts";

const text = await readFile(bundleFile, "utf8");

await t.test("docs/spec/openapi.json equals the output of `npm run bundle -w packages/openapi`", async (t) => {
  t.equal(text, await bundledDescription(), "run the command after a change of docs/spec/api");
});

await t.test("it has no external references", (t) => {
  const references = Array.from(text.matchAll(/"\$ref": "([^"]*)"/g), ([, reference]) => reference ?? "");
  t.ok(references.length > 500);
  t.same(
    references.filter((reference) => !reference.startsWith("#/components/")),
    [],
  );
  t.end();
});

await t.test("it has the operations of the description, with their requests and responses", (t) => {
  t.same(describe(readDocument(bundleFile)).operations, loadDescription().operations);
  t.end();
});
