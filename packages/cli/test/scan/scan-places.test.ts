import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { formsOf } from "../../../scan/test/forms.ts";
import { plantInPlaces } from "../../../scan/test/places.ts";
import { coffer } from "../command.ts";
import { tokenOf } from "./scan-repository.ts";

const folder = testDirectory(t);
const found = async (root: string, ...args: string[]): Promise<string> =>
  (await coffer(root, ["scan", "--format", "json", "--show-secrets", ...args])).stdout;

await t.test("a token is found in each of the 12 places of a repository", async (t) => {
  const root = join(folder, "repository");
  const places = Object.entries(plantInPlaces(root, tokenOf));
  t.equal(places.length, 12);
  const output = (await found(root)) + (await found(root, "--history", "--reflog"));
  for (const [place, token] of places) t.ok(output.includes(token), place);
});

await t.test("a token is found in each of the 37 forms, as files", async (t) => {
  const root = join(folder, "forms");
  mkdirSync(root);
  const forms = Object.entries(formsOf(tokenOf(1)));
  t.equal(forms.length, 37);
  forms.forEach(([, content], index) => writeFileSync(join(root, `form-${index}-.txt`), content));
  const output = await found(root);
  forms.forEach(([name], index) => t.ok(output.includes(`form-${index}-.txt`), name));
});
