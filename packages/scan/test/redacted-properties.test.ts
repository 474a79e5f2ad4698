import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { seededRandom } from "../src/examples/random.ts";
import { builtInRules } from "../src/index.ts";
import { scanPlain } from "../src/scan-plain.ts";
import { engine } from "./harness.ts";

const found = (text: string, showSecrets: boolean) =>
  scanPlain(
    engine,
    { bytes: Buffer.from(`\n${text}\n`, "latin1"), openStart: false, openEnd: false },
    { path: "input", showSecrets },
  ).occurrences;

await t.test("a masked secret shows the prefix of its kind alone, which other secrets of the kind share", (t) => {
  const rule = fc.constantFrom(...builtInRules.filter(({ optIn }) => optIn !== true));
  const property = fc.property(rule, fc.nat(), ({ examples }, seed) => {
    for (const text of examples.positive(seededRandom(seed + 1)).slice(0, 2)) {
      const [hidden, shown] = [found(text, false), found(text, true)];
      assert.equal(hidden.length, shown.length);
      for (const [index, { redacted, secret, ...rest }] of hidden.entries()) {
        const whole = shown[index]?.secret ?? "";
        const prefix = redacted.slice(0, -"***".length);
        assert.ok(secret === undefined && redacted.endsWith("***") && whole.startsWith(prefix), redacted);
        // Eight hidden characters of base62 are 47 bits.
        assert.ok(whole.length - prefix.length >= Math.min(8, whole.length), `${rest.rule_id}: ${prefix}`);
        assert.ok(!JSON.stringify(rest).includes(whole), rest.rule_id);
      }
    }
  });
  fc.assert(property, { numRuns: 150 });
  t.pass();
  t.end();
});
