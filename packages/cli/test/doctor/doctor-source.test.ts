import t from "tap";
import { checkSource } from "../../src/doctor/source.ts";

const own = ["192.168.1.20", "2001:db8::20"];

for (const [what, seen, service, status] of [
  ["our own address", "192.168.1.20", "192.168.1.2", "ok"],
  ["our own IPv6 address", "2001:db8::20", "2001:db8::1", "ok"],
  ["this machine, on this machine", "127.0.0.1", "127.0.0.1", "ok"],
  ["this machine, by its network address", "::1", "192.168.1.20", "ok"],
  ["a public address", "203.0.113.7", "198.51.100.1", "ok"],
  ["loopback of another machine: a proxy there", "127.0.0.1", "198.51.100.1", "problem"],
  ["loopback, and the service's name is not known here", "127.0.0.1", undefined, "problem"],
  ["the service's own address: a proxy on it", "198.51.100.1", "198.51.100.1", "problem"],
  ["a private address of a service on the internet", "10.42.0.1", "198.51.100.1", "problem"],
  ["a private address of a service in a cluster's overlay", "100.64.3.4", "198.51.100.1", "problem"],
  ["a private address that is not ours, of a private service", "10.0.0.9", "10.0.0.1", "warn"],
  ["a private address, and the service's name is not known here", "fd00::9", undefined, "warn"],
  ["a private address on this machine, as containers have", "172.17.0.1", "127.0.0.1", "warn"],
] as const)
  void t.test(`the service sees ${what}: ${status}`, (t) => {
    const finding = checkSource({ seen, own, service });
    t.equal(finding.status, status);
    t.equal(finding.advice === undefined, status === "ok");
    if (status !== "ok") t.match(finding.advice, /COFFER_TRUSTED_PROXY_CIDRS/);
    t.end();
  });
