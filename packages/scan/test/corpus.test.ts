import t from "tap";
import { corpusFigures } from "./corpus.ts";

// SCAN_CORPUS_ROUNDS makes it larger, SCAN_CORPUS_SEED another one.
const rounds = Number(process.env["SCAN_CORPUS_ROUNDS"] ?? "4");
const seed = Number(process.env["SCAN_CORPUS_SEED"] ?? "1");
const leastRecall = 0.995;
const mostFalsePositives = 0.003;

const figures = corpusFigures(rounds, seed);
const sum = (member: "positives" | "found" | "negatives" | "reported"): number =>
  figures.reduce((total, figure) => total + figure[member], 0);

await t.test("nearly all secrets are found, and nearly nothing else, of every kind", (t) => {
  for (const { kind, positives, found, negatives, reported } of figures) {
    t.comment(`${kind}: found ${found} of ${positives}, reported ${reported} of ${negatives} others`);
    // Few examples of a kind: one miss is allowed before the rate counts.
    t.ok(positives - found <= Math.max(1, positives * (1 - leastRecall)), `recall of ${kind}`);
    t.ok(reported <= Math.max(1, negatives * mostFalsePositives), `false positives of ${kind}`);
  }
  t.end();
});

await t.test("of all kinds together too", (t) => {
  t.comment(
    `seed ${seed}: found ${sum("found")} of ${sum("positives")}, reported ${sum("reported")} of ${sum("negatives")}`,
  );
  t.ok(sum("positives") > 2000 && sum("negatives") > 2000);
  t.ok(sum("found") / sum("positives") >= leastRecall);
  t.ok(sum("reported") / sum("negatives") <= mostFalsePositives);
  t.end();
});
