import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { hostileText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { cidrText } from "../src/tokens/cidr.ts";

/** The first address of a network, computed with one large number. */
function firstOf(bits: bigint, prefix: number, width: number): string {
  const masked = (bits >> BigInt(width - prefix)) << BigInt(width - prefix);
  const size = width === 32 ? 8 : 16;
  const parts = Array.from({ length: width / size }, (_, index) =>
    Number((masked >> BigInt(width - size * (index + 1))) & BigInt(2 ** size - 1)),
  );
  return width === 32 ? parts.join(".") : parts.map((part) => part.toString(16)).join(":");
}

await t.test("a network is taken by its first address, and by no other", (t) => {
  const network = fc
    .constantFrom(32, 128)
    .chain((width) =>
      fc.tuple(fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }), fc.nat(width), fc.constant(width)),
    );
  const property = fc.property(network, ([bits, prefix, width]) => {
    const first = firstOf(bits, prefix, width);
    const isMapped = width === 128 && bits >> 32n === 0xffffn;
    const text = `${first}/${prefix}`;
    if (!isMapped) assert.equal(cidrText.parse(text), text);
    const own = firstOf(bits, width, width);
    if (own !== first) assert.equal(cidrText.safeParse(`${own}/${prefix}`).success, false, `${own}/${prefix}`);
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

await t.test("whatever is taken, Node takes as a network with its address inside", (t) => {
  const piece = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.nat(130).map(String),
    fc.constantFrom("/", ":", "::", ".", "0.0.0.0", "::/", "/0"),
    hostileText,
  );
  const property = fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
    const { success, data = "" } = cidrText.safeParse(pieces.join(""));
    if (!success) return;
    const [address = "", prefix] = data.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    const list = new BlockList();
    list.addSubnet(address, Number(prefix), family);
    assert.ok(list.check(address, family), data);
  });
  fc.assert(property, { numRuns: 1000 });
  t.pass();
  t.end();
});
