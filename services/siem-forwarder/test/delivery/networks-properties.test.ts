import assert from "node:assert/strict";
import { brokenText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { createNetworks } from "../../src/outgoing/networks.ts";

const of4 = (bits: bigint): string => [24n, 16n, 8n, 0n].map((by) => String((bits >> by) & 255n)).join(".");
const of6 = (bits: bigint): string =>
  Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16)).join(":");
const v4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
/** Global unicast, in which no address holds another one: 2600::/12. */
const v6 = fc.bigInt({ min: 0n, max: 2n ** 116n - 1n }).map((bits) => (0x260n << 116n) | bits);

for (const { family, width, bits, text } of [
  { family: "IPv4", width: 32, bits: v4, text: of4 },
  { family: "IPv6", width: 128, bits: v6, text: of6 },
])
  await t.test(`${family}: an address is in the operator's network when its first bits are those`, (t) => {
    const property = fc.property(bits, fc.nat(width), fc.nat(width - 1), (network, prefix, changed) => {
      const networks = createNetworks([`${text(network)}/${prefix}`]);
      const other = network ^ (1n << BigInt(width - 1 - changed));
      assert.equal(networks.allows(text(network), "http:"), true);
      assert.equal(networks.allows(text(other), "http:"), changed >= prefix, text(other));
    });
    fc.assert(property, { numRuns: 300 });
    t.pass();
    t.end();
  });

await t.test("an address inside another one is as private as alone", (t) => {
  const forms = [
    (a: bigint) => `::ffff:${of4(a)}`,
    (a: bigint) => `64:ff9b::${of4(a)}`,
    (a: bigint) => of6((0x2002n << 112n) | (a << 80n)),
  ];
  const property = fc.property(v4, fc.nat(32), fc.constantFrom(...forms), (bits, prefix, form) => {
    const none = createNetworks([]);
    assert.equal(none.allows(form(bits), "https:"), false);
    assert.equal(createNetworks([`${of4(bits)}/${prefix}`]).allows(form(bits), "http:"), true);
    const other = bits ^ (1n << 31n);
    if (prefix > 0) assert.equal(createNetworks([`${of4(other)}/${prefix}`]).allows(form(bits), "https:"), false);
  });
  fc.assert(property, { numRuns: 200 });
  t.pass();
  t.end();
});

await t.test("a text that is no address is allowed nowhere", (t) => {
  const all = createNetworks(["0.0.0.0/0", "::/0"]);
  const property = fc.property(brokenText, v4, (text, bits) => {
    for (const odd of [text, `${of4(bits)}${text === "" ? " " : text}`.replace(/\d$/, "$&x"), `0x${bits.toString(16)}`])
      assert.equal(all.allows(odd, "https:"), false, odd);
  });
  fc.assert(property, { numRuns: 200 });
  t.pass();
  t.end();
});
