import t from "tap";
import { readOptions } from "./options.ts";

await t.test("npm run test:cluster refuses an address without a host name, which no Ingress takes", (t) => {
  t.throws(() => readOptions(["--url", "http://127.0.0.1:8080"]), /127\.0\.0\.1:8080: a route needs a host name/);
  t.throws(() => readOptions(["--https-url", "https://[::1]"]), /\[::1\]: a route needs a host name/);
  t.match(readOptions([]), { url: "http://localhost:18080", httpsUrl: undefined });
  t.end();
});

await t.test("the authority of the https address is found from any folder", (t) => {
  t.equal(readOptions(["--ca", "/etc/ca.crt"])?.authority, "/etc/ca.crt");
  t.match(readOptions(["--ca", "ca.crt"])?.authority, /^\/.*\/ca\.crt$/);
  t.end();
});
