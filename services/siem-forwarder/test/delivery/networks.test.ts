import t from "tap";
import { createNetworks } from "../../src/outgoing/networks.ts";

const refused = [
  "0.0.0.0", "0.255.255.255", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.255",
  "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.168.0.1", "198.18.0.1", "198.19.255.255",
  "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::8.8.8.8",
  "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::1",
  "2002:808:808::1", "2001::1", "2001:0:1::", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
  "fe80::1%eth0", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "localhost", "",
]; // prettier-ignore

const taken = ["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "168.63.129.15", "168.63.129.17",
  "172.15.255.255", "172.32.0.0", "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111",
  "2001:1::1", "2003::1", "64:ff9c::1", "fbff::1"]; // prettier-ignore

void t.test("private, reserved and embedding addresses are refused, others taken with https only", (t) => {
  const networks = createNetworks([]);
  for (const address of refused) {
    t.equal(networks.allows(address, "https:"), false, address);
    t.equal(networks.allows(address, "http:"), false, address);
  }
  for (const address of taken) {
    t.equal(networks.allows(address, "https:"), true, address);
    t.equal(networks.allows(address, "http:"), false, `${address} over http`);
  }
  t.end();
});

void t.test("inside the operator's networks both protocols are allowed, by the IPv4 inside of an address too", (t) => {
  const networks = createNetworks(["10.1.0.0/16", "127.0.0.1", "fd00:1::/32"]);
  const inside = ["10.1.0.0", "10.1.255.255", "127.0.0.1", "fd00:1::5", "::ffff:10.1.2.3", "64:ff9b::a01:203"];
  for (const address of [...inside, "2002:a01:203::1"])
    for (const protocol of ["http:", "https:"] as const) t.equal(networks.allows(address, protocol), true, address);
  for (const address of ["10.0.255.255", "10.2.0.0", "127.0.0.2", "fd00:2::5", "::ffff:10.2.2.3", "::a01:203", "::1"])
    for (const protocol of ["http:", "https:"] as const) t.equal(networks.allows(address, protocol), false, address);
  t.end();
});
