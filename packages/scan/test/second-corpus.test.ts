import t from "tap";
import type { Occurrence } from "../src/index.ts";
import { scan } from "./harness.ts";
import { nearMisses, positives } from "./second-corpus.ts";
import type { Case } from "./second-corpus.ts";

// SCAN_CORPUS_SEED makes another corpus; SCAN_CORPUS_SHARE=1 places every kind in every surrounding.
const seed = Number(process.env["SCAN_CORPUS_SEED"] ?? "1");
const share = Number(process.env["SCAN_CORPUS_SHARE"] ?? "0.35");
const rounds = Number(process.env["SCAN_CORPUS_ROUNDS"] ?? "3");
const leastRecall = 0.995;
const mostFalsePositives = 0.003;

interface Count {
  cases: number;
  right: number;
}

/** The secret as it stands, and without its escapes. */
function readings(text: string): string[] {
  const all = [text.replaceAll("\\/", "/")];
  for (let next = decoded(text); all.at(-1) !== next; next = decoded(next)) all.push(next);
  return all;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const holds = ({ secret = "" }: Occurrence, core: string): boolean =>
  readings(secret).some((reading) => readings(core).some((wanted) => reading.includes(wanted)));

const isSure = ({ confidence }: Occurrence): boolean => confidence !== "low";

function count(counts: Map<string, Count>, name: string, isRight: boolean): void {
  const { cases, right } = counts.get(name) ?? { cases: 0, right: 0 };
  counts.set(name, { cases: cases + 1, right: right + (isRight ? 1 : 0) });
}

const shareOf = ({ cases, right }: Count): number => right / cases;

function total(counts: ReadonlyMap<string, Count>): Count {
  const all = [...counts.values()];
  return {
    cases: all.reduce((sum, { cases }) => sum + cases, 0),
    right: all.reduce((sum, { right }) => sum + right, 0),
  };
}

const isHit = (found: Occurrence, { core = "", term, low }: Case): boolean =>
  holds(found, core) && (low === true || isSure(found)) && (term === undefined || found.kind === term);

await t.test("credentials as their vendors document them are found, each kind and in each surrounding", async (t) => {
  const byKind = new Map<string, Count>();
  const bySurrounding = new Map<string, Count>();
  const byTerm = new Map<string, Count>();
  const others: string[] = [];
  for (const each of positives(seed, share)) {
    const found = await scan(each.bytes, { path: each.path });
    const hit = found.find((occurrence) => isHit(occurrence, each));
    count(byKind, each.kind, hit !== undefined);
    count(bySurrounding, each.surrounding, hit !== undefined);
    if (each.term !== undefined) count(byTerm, each.term, hit !== undefined);
    if (hit === undefined) t.comment(`missed: ${each.kind}, ${each.surrounding}`);
    for (const { rule_id, confidence } of found.filter(isSure))
      if (hit !== undefined && rule_id !== hit.rule_id && each.companion !== rule_id)
        others.push(`${each.kind}, ${each.surrounding}: ${rule_id} ${confidence}`);
  }
  for (const [kind, { cases, right }] of byKind) t.comment(`${kind}: found ${right} of ${cases}`);
  const all = total(byKind);
  t.comment(`found ${all.right} of ${all.cases} of ${byKind.size} kinds; other findings: ${others.length}`);
  t.ok(byKind.size >= 120 && all.cases > 5_000, `${all.cases} credentials of ${byKind.size} kinds`);
  t.equal(byTerm.size, 9, "all kinds of the specification");
  t.ok(shareOf(all) >= leastRecall, `recall ${shareOf(all)}`);
  for (const [name, counted] of [...byTerm, ...bySurrounding, ...byKind])
    t.ok(counted.cases - counted.right <= Math.max(1, counted.cases * (1 - leastRecall)), name);
  t.ok(others.length / all.cases <= mostFalsePositives, others.join("\n"));
});

await t.test("what looks like a credential and is none is not reported", async (t) => {
  const byKind = new Map<string, Count>();
  for (const each of nearMisses(seed, rounds)) {
    const found = (await scan(each.bytes, { path: each.path })).filter(isSure);
    count(byKind, each.kind, found.length === 0);
    for (const { rule_id } of found) t.comment(`reported: ${rule_id} in ${each.kind}, ${each.surrounding}`);
  }
  for (const [kind, { cases, right }] of byKind)
    if (right < cases) t.comment(`${kind}: reported ${cases - right} of ${cases}`);
  const all = total(byKind);
  t.comment(`reported ${all.cases - all.right} of ${all.cases} others`);
  t.ok(all.cases > 5_000, `${all.cases} others`);
  t.ok(1 - shareOf(all) <= mostFalsePositives, `false positives ${1 - shareOf(all)}`);
});

await t.test("the checksum of Grafana's own example is valid", async (t) => {
  const [found] = await scan(["glsa", "yscW25imSKJIuav8zF37RZmnbiDvB05G", "fcaaf58a"].join("_"));
  t.match(found, { rule_id: "grafana-service-account-token", confidence: "high", checksum: "valid" });
});
