import { builtInRules, createEngine, scanPlain } from "../src/index.ts";
import type { Rule } from "../src/index.ts";
import { seededRandom } from "../src/examples/random.ts";
import type { Random } from "../src/examples/random.ts";

/** How texts stand in files. */
const surroundings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `TOKEN=${text}\n`,
  (text) => `export VALUE="${text}"\nexport OTHER=1\n`,
  (text) => `{"name": "x", "value": ${JSON.stringify(text)}, "n": 1}`,
  (text) => `value: ${text.replaceAll("\n", "\n  ")}\nother: true\n`,
  (text) => `const value = '${text}';`,
  (text) => `client.call(\`${text}\`, { retries: 3 });\n`,
  (text) => `<entry key="value">${text}</entry>`,
  (text) => `| column | ${text} | column |\n`,
  (text) => `2026-11-24T10:00:00Z INFO sent (${text}) in 12 ms\n`,
  (text) => `+${text.replaceAll("\n", "\n+")}\n`,
  (text) => `curl -H "Authorization: Bearer ${text}" https://api.internal/v1\n`,
];

/** Texts of which files are full and which are no credentials. */
const noise: readonly ((random: Random) => string)[] = [
  (random) => `"integrity": "sha512-${random.bytes(64).toString("base64")}",`,
  (random) => `commit ${random.bytes(20).toString("hex")}`,
  (random) => `sha256:${random.bytes(32).toString("hex")}`,
  (random) => {
    const hex = random.bytes(16).toString("hex");
    return `id: ${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  },
  (random) => `data:image/png;base64,${random.bytes(300).toString("base64")}`,
  (random) => `secretName: ${random.text("abcdefghijklmnopqrstuvwxyz-", 30)}`,
  (random) => `const secretAccessKeyOfTheBucket${random.text("ABCDEFGH", 4)} = readSecretAccessKeyFromEnvironment();`,
  (random) =>
    `https://host.internal/path/${random.text("abcdefghijklmnop0123456789", 24)}?q=${random.text("abcdef", 8)}@2x`,
  (random) => `aws_secret_access_key = ${random.text("0123456789abcdef", 40)}`,
  (random) => `-----BEGIN CERTIFICATE-----\n${random.bytes(400).toString("base64")}\n-----END CERTIFICATE-----`,
];

export interface KindFigures {
  kind: string;
  positives: number;
  found: number;
  negatives: number;
  reported: number;
}

/**
 * Scans positive examples and near-misses of every rule in every surrounding, and noise. Counts by
 * kind what is found, and what of the near-misses and noise is reported with medium or high
 * confidence.
 */
export function corpusFigures(rounds: number, seed: number): KindFigures[] {
  const rules = builtInRules.filter(({ optIn }) => optIn !== true);
  const engine = createEngine(rules);
  const random = seededRandom(seed);
  const figures = new Map<string, KindFigures>();
  const of = (kind: string): KindFigures => {
    const known = figures.get(kind) ?? { kind, positives: 0, found: 0, negatives: 0, reported: 0 };
    figures.set(kind, known);
    return known;
  };
  const scan = (text: string) =>
    scanPlain(engine, { bytes: Buffer.from(text), openStart: false, openEnd: false }, { path: "input" }).occurrences;
  const addRule = (rule: Rule): void => {
    const figure = of(rule.kind);
    for (const around of surroundings) {
      for (const text of rule.examples.positive(random)) {
        figure.positives += 1;
        if (scan(around(text)).some(({ kind }) => kind === rule.kind)) figure.found += 1;
      }
      for (const text of rule.examples.negative(random)) {
        figure.negatives += 1;
        if (scan(around(text)).some(({ kind, confidence }) => kind === rule.kind && confidence !== "low"))
          figure.reported += 1;
      }
    }
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const rule of rules) addRule(rule);
    for (const make of noise)
      for (const around of surroundings) {
        of("noise").negatives += 1;
        if (scan(around(make(random))).some(({ confidence }) => confidence !== "low")) of("noise").reported += 1;
      }
  }
  return [...figures.values()];
}
