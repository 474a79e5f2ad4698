// Fails when the services take a proxy's address for the caller's. The limit counts by the source address that a service
// sees: a request that goes straight to the service and one that goes through the gateway must count together.
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";

const path = "/api/sm/v1/secrets";
const { DIRECT_URL: direct, PUBLIC_URL: gateway } = process.env;
const forged = "203.0.113.77";

/** What no second try mends: a name that does not exist, a certificate that is not trusted. */
const lasting = /^ENOTFOUND$|CERT|SIGNATURE|SSL|TLS/;

/** What to set when the gateway is not reached from inside the cluster. */
function adviceFor(code) {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return ": the cluster's DNS does not know the name; set tests.hostAliases";
  if (/CERT|SIGNATURE|SSL|TLS/.test(code)) return ": for a certificate authority of your own set tests.caConfigMap";
  return ": look at tests.url, tests.gatewayPort, tests.gatewayPeers and tests.hostAliases";
}

async function left(url, headers = {}) {
  const answer = await globalThis.fetch(url + path, { headers, redirect: "manual" }).catch((error) => {
    const why = error.cause?.code ?? error.message;
    const advice = url === gateway ? adviceFor(why) : ": is a pod of auth-sm ready (kubectl get pods)?";
    const lasts = url === gateway && lasting.test(why);
    throw Object.assign(new Error(`${url} cannot be reached: ${why}${advice}`), { lasts });
  });
  await answer.arrayBuffer();
  const found = /\br=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1];
  if (found === undefined) throw new Error(`${url}${path} answered ${answer.status} without a limit: is this Coffer?`);
  return Number(found);
}

async function check() {
  const first = await left(direct);
  const second = await left(direct);
  if (second !== first - 1) throw new Error("other requests from this address disturb the measurement: run it again");
  const through = await left(gateway);
  if (through !== second - 1)
    throw new Error(
      `through ${gateway} the services see another address than this pod's: that of a proxy. ` +
        "Name the proxies' networks in trustedProxyCidrs, and keep the source address on its way " +
        "(externalTrafficPolicy: Local, or PROXY protocol)",
    );
  const claimed = await left(gateway, { "x-forwarded-for": forged });
  if (claimed !== through - 1)
    throw new Error(
      `a caller that sends X-Forwarded-For: ${forged} gets a limit of its own: the proxy must replace what callers send, ` +
        "or trustedProxyCidrs names networks of callers",
    );
}

// In the minute after the start of Redis each replica counts by itself too, and so it does for a request that Redis answers late.
// Another caller may come between. A wrong configuration fails every time.
const end = Date.now() + 80_000;
for (;;) {
  try {
    await check();
    process.stdout.write("the services see the caller's own address\n");
    break;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    if (error.lasts || Date.now() > end) process.exit(1);
    await pause(3000);
  }
}
