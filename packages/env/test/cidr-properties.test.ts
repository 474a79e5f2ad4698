import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import t from "tap";
import { cidr } from "../src/parse-address.ts";
import { ValueProblem } from "../src/variable.ts";

const address = fc.oneof(fc.ipV4(), fc.ipV6());

await t.test("a network is the one that was written, and Node takes it", (t) => {
  const property = fc.property(address, fc.nat(128), (host, given) => {
    const family = isIP(host);
    const prefix = family === 4 ? given % 33 : given;
    assert.equal(cidr(`${host}/${prefix}`), `${host}/${prefix}`);
    assert.equal(cidr(host), `${host}/${family === 4 ? 32 : 128}`);
    const list = new BlockList();
    list.addSubnet(host, prefix, family === 4 ? "ipv4" : "ipv6");
  });
  fc.assert(property, { numRuns: 200 });
  t.pass();
  t.end();
});

await t.test("any other text is refused with the problem, never read as a wider network", (t) => {
  const odd = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("33a", "129", "-1", "1e1", "0x8", " 8", "8 ", "08/", "٨", "\0", "%eth0"),
  );
  const property = fc.property(address, odd, (host, text) => {
    for (const given of [text, `${host}/${text}`, `${text}${host}`, `${host}/8${text}`]) {
      let read: string;
      try {
        read = cidr(given);
      } catch (error) {
        assert.ok(error instanceof ValueProblem);
        continue;
      }
      const [network = "", prefix = ""] = read.split("/");
      assert.ok(isIP(network) !== 0 && given.startsWith(network), given);
      assert.match(given.slice(network.length), new RegExp(`^(/0{0,2}${prefix})?$`), given);
    }
  });
  fc.assert(property, { numRuns: 500 });
  t.pass();
  t.end();
});
