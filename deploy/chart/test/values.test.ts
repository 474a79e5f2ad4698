import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { variables } from "@coffer/env";
import t from "tap";
import { onBus, presentServices } from "../../local/src/services/services.ts";
import type { KubernetesObject } from "../src/kubernetes.ts";
import { chart } from "../src/paths.ts";
import { presetValues, render, template } from "../src/render.ts";
import { base, componentOf, directory, named, refusal, renderValues, servicePods } from "./values.ts";

await t.test("without values all missing ones are named", (t) => {
  const { status, stderr } = template({});
  t.equal(status, 1);
  t.match(stderr, /baseUrls: name the public address/);
  t.match(stderr, /services\.auth-sm\.existingSecret, or existingSecret/);
  t.end();
});

await t.test("every setting of a service can be set by a value", (t) => {
  const notFromValues = [
    "COFFER_HOST", // the image's
    "COFFER_CONSOLE", // the row's own condition
    "COFFER_CONSOLE_DIR", // the image's
    "COFFER_DATA_DIR", // of npm start
    "COFFER_PROCESSES",
    "COFFER_ROUTER_SECRET",
  ];
  const objects = renderValues({
    trustedProxyCidrs: ["10.0.0.0/8"],
    settings: { syncAllowedOrigins: ["https://app.example.com"] },
    siem: { allowedCidrs: ["10.1.0.0/16"] },
    billing: { enabled: true, prices: { price_team: "team" } },
    telemetry: { otlpEndpoint: "http://collector:4318" },
  });
  const set = new Set(
    servicePods(objects)
      .flatMap(({ spec }) => spec.containers[0]?.env ?? [])
      .map(({ name }) => name),
  );
  t.same(
    Object.keys(variables)
      .filter((name) => !set.has(name))
      .sort(),
    notFromValues.sort(),
  );
  t.end();
});

await t.test("each service gets the largest number of replicas", (t) => {
  const replicasOf = (objects: KubernetesObject[]): Record<string, string | undefined> =>
    Object.fromEntries(
      servicePods(objects).map(({ labels, spec }) => [
        componentOf(labels),
        spec.containers[0]?.env?.find(({ name }) => name === "COFFER_REPLICAS")?.value,
      ]),
    );
  t.match(replicasOf(renderValues({ services: { sync: { replicas: 7 } } })), { sync: "7", vaults: "2" });
  const services = { sync: { autoscaling: { maxReplicas: 30 } } };
  t.match(replicasOf(renderValues({ services, autoscaling: { enabled: true } })), { sync: "30", vaults: "6" });
  t.end();
});

await t.test("a service's own Secret wins over the common one, and its keys are the variables", (t) => {
  const keysOf = (name: string): unknown[] =>
    servicePods(renderValues({ services: { sync: { existingSecret: "own" } } }))
      .filter(({ labels }) => componentOf(labels) === name)
      .flatMap(({ spec }) => spec.containers[0]?.env ?? [])
      .flatMap(({ valueFrom }) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef]));
  const stores = ["COFFER_NATS_URL", "COFFER_NATS_CREDENTIALS", "COFFER_REDIS_URL"];
  t.same(
    keysOf("sync"),
    stores.map((key) => ({ name: "own", key })),
  );
  const common = ["COFFER_POSTGRES_URL", ...stores];
  t.same(
    keysOf("vaults"),
    common.map((key) => ({ name: "coffer-stores", key: `vaults.${key}` })),
  );
  t.end();
});

await t.test("the development Postgres allows the connections of all replicas, also during an upgrade", (t) => {
  const allowed = (values: object): number => {
    const [set] = named(renderValues({ ...values, dev: { postgres: { enabled: true } } }), "StatefulSet");
    return Number(/max_connections=(\d+)/.exec(JSON.stringify(set))?.[1]);
  };
  const autoscaling = { minReplicas: 1, maxReplicas: 6 };
  t.equal(allowed({}), 500, "at least 20 + 4 * 3 * 20: two replicas of four services, and one more of each");
  t.equal(allowed({ services: { "auth-sm": { replicas: 3 } } }), 500, "no restart of Postgres for one more replica");
  t.equal(
    allowed({ autoscaling: { enabled: true }, services: { vaults: { autoscaling }, "auth-sm": { autoscaling } } }),
    500,
    "20 + 2 * 7 * 20 + 2 * 5 * 20",
  );
  t.equal(allowed({ services: { "auth-sm": { replicas: 20 } } }), 1000, "20 + 21 * 20 + 3 * 3 * 20 = 620");
  t.end();
});

await t.test("a rollback replaces a Postgres that cannot start", (t) => {
  const [set] = named(renderValues({ dev: { postgres: { enabled: true } } }), "StatefulSet");
  t.equal(set?.spec?.["podManagementPolicy"], "Parallel");
  t.end();
});

await t.test("a misspelled value is refused, at every level", (t) => {
  for (const [values, name] of [
    [{ prodution: true }, "prodution"],
    [{ services: { "auth-sm": { replica: 2 } } }, "replica"],
    [{ services: { "auth-smm": {} } }, "auth-smm"],
    [{ settings: { limits: { strickt: 1 } } }, "strickt"],
    [{ dev: { postgres: { password: "x" } } }, "password"],
    [{ gateway: { parentRefs: [{ name: "x", nameSpace: "y" }] } }, "nameSpace"],
    [{ networkPolicy: { gatewayPeers: [{ podselector: {} }] } }, "podselector"],
    [{ tests: { smoke: { enable: true } } }, "enable"],
  ] as const)
    t.match(refusal(values), new RegExp(`[Aa]dditional propert(y|ies) .*${name}`), name);
  t.end();
});

await t.test("values and schema have the same names", (t) => {
  const schema = JSON.parse(readFileSync(resolve(chart, "values.schema.json"), "utf8")) as Schema;
  const open: string[] = [];
  const resolved = (part: Schema): Schema =>
    part.$ref === undefined ? part : resolved(schema.definitions?.[part.$ref.split("/").at(-1) ?? ""] ?? {});
  const walk = (part: Schema, path: string): void => {
    const here = resolved(part);
    if (here.properties !== undefined && here.additionalProperties !== false) open.push(path);
    for (const [name, inner] of Object.entries(here.properties ?? {})) walk(inner, `${path}.${name}`);
    if (here.items !== undefined) walk(here.items, `${path}[]`);
  };
  walk(schema, "");
  t.same(open, [], "unknown names are refused everywhere");
  const compare = (value: unknown, part: Schema, path: string): void => {
    const here = resolved(part);
    if (here.properties === undefined || typeof value !== "object" || value === null) return;
    const optional = ["global", "targetConnections"];
    const names = Object.keys(here.properties).filter((name) => Object.hasOwn(value, name) || !optional.includes(name));
    if (path.endsWith("resources.requests") || path.endsWith("resources.limits") || path === ".affinity") return;
    t.same(Object.keys(value).sort(), names.sort(), path);
    for (const [name, inner] of Object.entries(value)) compare(inner, here.properties[name] ?? {}, `${path}.${name}`);
  };
  compare(presetValues(), schema, "");
  t.end();
});

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  items?: Schema;
  definitions?: Record<string, Schema>;
}

await t.test("production refuses unsafe values", (t) => {
  const names = onBus(presentServices()).map(({ name }) => name);
  const own = Object.fromEntries(names.map((name) => [name, { existingSecret: `coffer-${name}` }]));
  const good = { production: true, existingSecret: "", trustedProxyCidrs: ["10.42.0.0/16"], services: own };
  t.equal(refusal(good), "");
  const bad: Record<string, Record<string, unknown>> = {
    "no proxies": { trustedProxyCidrs: [] },
    "one replica": { services: { ...own, vaults: { ...own["vaults"], replicas: 1 } } },
    "one replica while scaling": {
      autoscaling: { enabled: true },
      services: { ...own, vaults: { ...own["vaults"], autoscaling: { minReplicas: 1 } } },
    },
    "a Secret for all": { existingSecret: "coffer-stores" },
    "a plan that is none": { billing: { enabled: true, prices: { price_team: "teams" } } },
    "a service without a Secret": { services: { ...own, sync: { existingSecret: "" } } },
    "plain http": { baseUrls: ["http://coffer.example.com"] },
    "no address": { baseUrls: [] },
    "a root file system that can be written": { dev: { writableRootFilesystem: true } },
    "Postgres of the chart": { dev: { postgres: { enabled: true } } },
    "NATS of the chart": { dev: { nats: { enabled: true } } },
    "Redis of the chart": { dev: { redis: { enabled: true } } },
    "no policies": { networkPolicy: { enabled: false } },
    "the tag latest": { image: { tag: "latest" } },
  };
  for (const [name, values] of Object.entries(bad)) {
    const said = refusal({ ...good, ...values });
    t.match(said, /values don't meet the specifications of the schema/, name);
  }
  t.end();
});

await t.test("everywhere: no proxy network of all addresses, no slash behind an address, no two scalers", (t) => {
  t.match(refusal({ trustedProxyCidrs: ["0.0.0.0/0"] }), /trustedProxyCidrs/);
  t.match(refusal({ trustedProxyCidrs: ["::/0"] }), /trustedProxyCidrs/);
  t.match(refusal({ baseUrls: ["https://coffer.example.com/"] }), /baseUrls/);
  t.match(refusal({ autoscaling: { enabled: true, keda: { enabled: true } } }), /choose one/);
  t.match(refusal({ tests: { url: "https://other.example" } }), /tests\.url: it must be one of baseUrls/);
  t.match(refusal({ extraEnv: [{ name: "COFFER_PORT", value: "1" }] }), /COFFER_PORT of auth-sm is set already/);
  t.match(refusal({ gateway: { enabled: true } }), /gateway\.parentRefs/);
  t.match(refusal({ backup: { enabled: true } }), /backup\.existingClaim/);
  t.end();
});

await t.test("a release with another name has that name in its objects, and long names are cut", (t) => {
  for (const [release, name] of [
    ["coffer", "coffer-sync"],
    ["acme", "acme-coffer-sync"],
    ["a".repeat(53), /^a{40}-sync$/],
  ] as const) {
    const names = named(render({ values: base, directory, release }), "Deployment").map(
      ({ metadata }) => metadata.name,
    );
    t.ok(
      names.some((each) => (typeof name === "string" ? each === name : name.test(each))),
      release,
    );
    t.ok(names.every((each) => each.length <= 63));
  }
  t.end();
});
