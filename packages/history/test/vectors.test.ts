import { readFile } from "node:fs/promises";
import t from "tap";
import { startBrowser } from "../../crypto/test/browser/start.ts";
import type { HistoryFile, JoinVector, VectorFile } from "../../crypto/test/vectors/shapes.ts";
import { checkHistories, checkJoins } from "./vectors/check.ts";
import type * as Check from "./vectors/check.ts";

const directory = new URL("../../../docs/spec/vectors/", import.meta.url);
const texts = {
  history: await readFile(new URL("history.json", directory), "utf8"),
  join: await readFile(new URL("join.json", directory), "utf8"),
};
const served = "/packages/history/test/vectors/check.ts";

void t.test("the package does what history.json says", async (t) => {
  const checked = await checkHistories(JSON.parse(texts.history) as HistoryFile);
  t.ok(checked.length > 200, `${checked.length} vectors`);
  for (const { name, problem } of checked) t.equal(problem, null, name);
});

void t.test("the package does what join.json says", async (t) => {
  const checked = await checkJoins(JSON.parse(texts.join) as VectorFile<JoinVector>);
  t.ok(checked.length > 15, `${checked.length} vectors`);
  for (const { name, problem } of checked) t.equal(problem, null, name);
});

void t.test("every vector has a name of its own", (t) => {
  const { vectors } = JSON.parse(texts.history) as HistoryFile;
  t.equal(new Set(vectors.map(({ name }) => name)).size, vectors.length);
  t.end();
});

void t.test("a browser does the same", async (t) => {
  const page = await (await startBrowser(t)).openPage();
  const checked = await page.evaluate(
    async ({ served, texts }) => {
      const { checkHistories, checkJoins } = (await import(served)) as typeof Check;
      const histories = await checkHistories(JSON.parse(texts.history) as HistoryFile);
      return [...histories, ...(await checkJoins(JSON.parse(texts.join) as VectorFile<JoinVector>))];
    },
    { served, texts },
  );
  t.ok(checked.length > 215, `${checked.length} vectors`);
  for (const { name, problem } of checked) t.equal(problem, null, name);
});
