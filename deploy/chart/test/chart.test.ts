import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { natsPermission } from "@coffer/bus";
import { variables } from "@coffer/env";
import t from "tap";
import { parse } from "yaml";
import { onBus, presentServices } from "../../local/src/services/services.ts";
import { generatedFiles } from "../src/generated-files.ts";
import { runHelm } from "../src/helm.ts";
import { containersOf, type KubernetesObject, type PodTemplate, podTemplates, selects } from "../src/kubernetes.ts";
import { chart, checkout } from "../src/paths.ts";
import { presetValues, template } from "../src/render.ts";
import { routesOf } from "../src/routes.ts";
import { problemsOf } from "../src/validate.ts";
import { cases, everyCase, inEachCase, rendered } from "./rendered.ts";
import { componentOf, named, renderValues, servicePods } from "./values.ts";

const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.name}`;

await t.test("the services, their paths and schemas are those of npm start", (t) => {
  const { services } = presetValues() as { services: Record<string, { paths: string[] }> };
  const present = presentServices();
  t.same(Object.keys(services).sort(), present.map(({ name }) => name).sort());
  for (const { name, paths } of present) t.same(services[name]?.paths, paths, name);
  const deployments = named(renderValues({}), "Deployment").map(({ metadata }) => metadata.name);
  t.same(deployments.sort(), present.map(({ name }) => `coffer-${name}`).sort());
  const jobs = named(renderValues({}), "Job").map(({ metadata }) => metadata.name);
  const schemas = present.filter(({ schema }) => schema !== null);
  for (const { name } of schemas) t.ok(existsSync(resolve(checkout, "services", name, "src/migrate-main.ts")), name);
  t.same(jobs.sort(), schemas.map(({ name }) => `coffer-migrate-${name}`).sort());
  t.end();
});

await t.test("the generated files are up to date", async (t) => {
  for (const [path, text] of Object.entries(await generatedFiles()))
    t.equal(readFileSync(resolve(checkout, path), "utf8"), text, `${path}: npm run generate -w deploy/chart`);
});

await t.test("helm lint finds nothing, with the presets and with values", (t) => {
  for (const name of ["dev", "production-external", "monitoring", null]) {
    const files = name === null ? [] : ["--values", cases.get(name) ?? ""];
    const { status, stdout, stderr } = runHelm(["lint", "--strict", chart, ...files]);
    t.equal(status, 0, stdout + stderr);
    t.notMatch(stdout, /\[(WARNING|ERROR)\]/);
  }
  t.end();
});

inEachCase("Kubernetes accepts every object, and knows every field of it", async (t, objects) => {
  for (const object of objects) t.same(await problemsOf(object), []);
});

await t.test("the check of fields finds a misspelled one, at any depth, also of an extension", async (t) => {
  const [deployment] = named(renderValues({}), "Deployment");
  const copy = structuredClone(deployment) as KubernetesObject;
  const [pod] = podTemplates([copy]);
  Object.assign(pod?.spec.containers[0]?.readinessProbe ?? {}, { periodSecond: 1 });
  t.match(await problemsOf(copy), [/readinessProbe\.periodSecond is not known/]);
  const gateway = { enabled: true, parentRefs: [{ name: "shared" }] };
  const [route] = named(renderValues({ gateway }), "HTTPRoute");
  const rules = structuredClone(route) as KubernetesObject;
  Object.assign(((rules.spec?.["rules"] ?? []) as object[])[0] ?? {}, { backendRef: [] });
  t.match(await problemsOf(rules), [/rules\.0\.backendRef is not known/]);
});

await t.test("two renderings are equal, byte by byte", (t) => {
  for (const [name, file] of cases) t.equal(template({ files: [file] }).stdout, rendered.get(name)?.text, name);
  t.end();
});

inEachCase("each object occurs once, in the namespace of the release, with the recommended labels", (t, objects) => {
  const keys = objects.map(keyOf);
  t.same(keys, [...new Set(keys)]);
  for (const object of objects) {
    if (/additional|coffer-text/.test(object.metadata.name)) continue; // the case's own
    t.equal(object.metadata.namespace, "coffer", keyOf(object));
    for (const label of ["name", "instance", "component", "part-of", "version", "managed-by"])
      t.ok(object.metadata.labels?.[`app.kubernetes.io/${label}`], `${keyOf(object)} ${label}`);
  }
});

inEachCase("each pod meets the standard restricted", (t, objects) => {
  const pods = podTemplates(objects);
  t.ok(pods.length > 0);
  for (const pod of pods) {
    const { spec, owner } = pod;
    t.match(spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } }, keyOf(owner));
    t.ok(Number(spec.securityContext?.["runAsUser"]) > 0, keyOf(owner));
    t.equal(spec.securityContext?.["fsGroupChangePolicy"], "OnRootMismatch", keyOf(owner));
    t.equal(spec.automountServiceAccountToken, false, keyOf(owner));
    t.equal(spec.enableServiceLinks, false, keyOf(owner));
    t.ok(spec.serviceAccountName, keyOf(owner));
    t.notOk("serviceAccount" in spec, "the former name of the field");
    for (const shared of ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"] as const)
      t.equal(spec[shared], undefined, `${keyOf(owner)} ${shared}`);
    t.equal(spec.securityContext?.["sysctls"], undefined, keyOf(owner));
    for (const volume of spec.volumes ?? []) {
      const kinds = Object.keys(volume).filter((key) => key !== "name");
      t.ok(
        kinds.every((kind) =>
          ["configMap", "emptyDir", "ephemeral", "secret", "persistentVolumeClaim", "projected"].includes(kind),
        ),
      );
    }
    for (const container of containersOf(spec)) {
      const where = `${keyOf(owner)} ${container.name}`;
      t.same(
        container.securityContext,
        {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          capabilities: { drop: ["ALL"] },
          seccompProfile: { type: "RuntimeDefault" },
        },
        where,
      );
      t.ok(container.resources?.requests?.["cpu"] && container.resources.requests["memory"], where);
      t.ok(container.resources?.limits?.["memory"], where);
      t.notOk(container.resources?.limits?.["cpu"], where);
      t.notMatch(container.image, /:latest$|^[^:@]+$/, where);
      t.ok(
        (container.ports ?? []).every(({ containerPort }) => containerPort > 1024),
        where,
      );
    }
  }
});

inEachCase("no environment variable, port or mount occurs twice", (t, objects) => {
  for (const { owner, spec } of podTemplates(objects)) {
    for (const container of containersOf(spec)) {
      const lists = [
        (container.env ?? []).map(({ name }) => name),
        (container.ports ?? []).map(({ name }) => name),
        (container.ports ?? []).map(({ containerPort }) => containerPort),
        (container.volumeMounts ?? []).map(({ mountPath }) => mountPath),
      ];
      for (const list of lists) t.same(list, [...new Set<unknown>(list)], `${keyOf(owner)} ${container.name}`);
    }
  }
});

inEachCase("no variable has a secret as its value", (t, objects) => {
  for (const { owner, spec } of podTemplates(objects))
    for (const { name, value = "" } of containersOf(spec).flatMap(({ env = [] }) => env)) {
      t.notMatch(value, /:\/\/[^/]*:[^/]*@/, `${keyOf(owner)} ${name}: a password in an address`);
      if (/PASSWORD|SECRET$|_TOKEN$|_KEY$/.test(name)) t.equal(value, "", `${keyOf(owner)} ${name}`);
    }
});

inEachCase("replicas spread over zones and hosts", (t, objects) => {
  for (const { owner, spec } of servicePods(objects)) {
    const keys = (spec.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
    t.same(keys, ["topology.kubernetes.io/zone", "kubernetes.io/hostname"], keyOf(owner));
  }
});

inEachCase("each selector finds pods, and none that it should not", (t, objects) => {
  const pods = podTemplates(objects);
  const owned = (selector: Record<string, string>): string[] => [
    ...new Set(pods.filter(({ labels }) => selects(selector, labels)).map(({ labels }) => componentOf(labels))),
  ];
  for (const object of objects) {
    const selector = selectorOf(object);
    if (selector === undefined) continue;
    const expected = object.metadata.labels?.["app.kubernetes.io/component"];
    const found = owned(selector);
    if (object.metadata.name.endsWith("-default-deny")) {
      t.same(found.sort(), [...new Set(pods.map(({ labels }) => componentOf(labels)))].sort(), "every pod");
    } else if (expected !== "test" || found.length > 0) t.same(found, [expected], keyOf(object));
  }
});

// What its rules ask, https://docs.kubelinter.io, of which the chart does otherwise.
await t.test("each rule that kube-linter leaves out is one that an object does not follow", (t) => {
  const pods = everyCase.flatMap(({ objects }) => podTemplates(objects));
  const containers = pods.flatMap(({ spec }) => containersOf(spec));
  const unfollowed = {
    "unset-cpu-requirements": containers.some(({ resources }) => resources?.limits?.["cpu"] === undefined),
    "no-anti-affinity": pods.some(({ owner, spec }) => Number(owner.spec?.["replicas"]) > 1 && !("affinity" in spec)),
    "env-var-secret": containers.some(({ env = [] }) => env.some(({ name, value }) => /secret/i.test(name) && value)),
    "job-ttl-seconds-after-finished": pods.some(
      ({ owner }) => owner.kind === "Job" && owner.spec?.["ttlSecondsAfterFinished"] === undefined,
    ),
  };
  const { checks } = parse(readFileSync(resolve(chart, "ci/kube-linter.yaml"), "utf8")) as {
    checks: { exclude: string[] };
  };
  t.same(
    checks.exclude,
    Object.entries(unfollowed).flatMap(([rule, found]) => (found ? [rule] : [])),
  );
  t.end();
});

await t.test("services alone may write their root file systems, on request", (t) => {
  const dev = { writableRootFilesystem: true, postgres: { enabled: true } };
  for (const { owner, spec, labels } of podTemplates(renderValues({ dev }))) {
    const isService = presentServices().some(({ name }) => name === componentOf(labels));
    for (const { securityContext } of containersOf(spec))
      t.equal(securityContext?.["readOnlyRootFilesystem"], !isService, keyOf(owner));
  }
  t.end();
});

function selectorOf({ kind, spec }: KubernetesObject): Record<string, string> | undefined {
  const labelsIn = (selector: unknown) => (selector as { matchLabels: Record<string, string> }).matchLabels;
  if (kind === "Service") return spec?.["selector"] as Record<string, string>;
  if (["Deployment", "StatefulSet", "PodDisruptionBudget"].includes(kind)) return labelsIn(spec?.["selector"]);
  if (kind === "NetworkPolicy") return labelsIn(spec?.["podSelector"]);
  return undefined;
}

inEachCase("references exist, or are named in the values", (t, objects) => {
  const keys = new Set(objects.map(keyOf));
  const values = JSON.stringify([...cases.values()].map((file) => readFileSync(file, "utf8")));
  for (const { owner, spec } of podTemplates(objects)) {
    t.ok(keys.has(`ServiceAccount/${spec.serviceAccountName ?? ""}`), `${keyOf(owner)} ServiceAccount`);
    const mounted = new Set((spec.volumes ?? []).map(({ name }) => name));
    for (const volume of spec.volumes ?? []) {
      const map = (volume["configMap"] as { name: string } | undefined)?.name;
      if (map !== undefined && map !== "authority") t.ok(keys.has(`ConfigMap/${map}`), `${keyOf(owner)} ${map}`);
    }
    for (const container of containersOf(spec)) {
      for (const { name } of container.volumeMounts ?? [])
        t.ok(mounted.has(name) || owner.kind === "StatefulSet", `${keyOf(owner)} volume ${name}`);
      for (const { valueFrom } of container.env ?? [])
        if (valueFrom?.secretKeyRef !== undefined) t.ok(values.includes(valueFrom.secretKeyRef.name), keyOf(owner));
      const ports = new Set<unknown>((container.ports ?? []).map(({ name }) => name));
      for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
        const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
        if (probe !== undefined && probe.exec === undefined)
          t.ok(ports.has(port), `${keyOf(owner)} probes port ${String(port)}`);
      }
    }
  }
  for (const { service, port } of routesOf(objects)) {
    const target = objects.find((each) => keyOf(each) === `Service/${service}`);
    const ports = (target?.spec?.["ports"] ?? []) as { name: string; port: number; targetPort: string }[];
    const [found] = ports.filter((each) => each.port === port || each.name === port);
    t.ok(found, `route to ${service}`);
    const pod = podTemplates(objects).find(({ owner }) => keyOf(owner) === `Deployment/${service}`);
    t.ok(pod?.spec.containers[0]?.ports?.some(({ name }) => name === found?.targetPort));
  }
  for (const object of objects) {
    const target = object.spec?.["scaleTargetRef"] as { kind: string; name: string } | undefined;
    if (target !== undefined) t.ok(keys.has(`${target.kind}/${target.name}`), keyOf(object));
  }
});

inEachCase("a pod of a service has the time that its shutdown needs", (t, objects) => {
  for (const { owner, spec } of servicePods(objects)) {
    const [container] = spec.containers;
    const drain = Number(container?.env?.find(({ name }) => name === "COFFER_DRAIN_SECONDS")?.value);
    const before = container?.lifecycle?.preStop?.sleep?.seconds ?? 0;
    t.ok(before >= 5, keyOf(owner));
    const isSync = owner.metadata.name.endsWith("sync");
    t.equal(drain, isSync ? 25 : 15);
    t.equal(spec.terminationGracePeriodSeconds, isSync ? 60 : 30);
    t.ok(before + drain + 5 < (spec.terminationGracePeriodSeconds ?? 0), keyOf(owner));
  }
});

inEachCase("a service starts, rolls and is evicted one pod at a time", (t, objects) => {
  const pods = servicePods(objects);
  t.equal(pods.length, presentServices().length);
  for (const { owner } of pods) {
    t.match(owner.spec?.["strategy"], { rollingUpdate: { maxUnavailable: 0 } });
    const budget = objects.find((each) => keyOf(each) === `PodDisruptionBudget/${owner.metadata.name}`);
    t.match(budget?.spec, { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" });
    const scalers = objects.filter(
      ({ spec }) => (spec?.["scaleTargetRef"] as { name: string } | undefined)?.name === owner.metadata.name,
    );
    t.ok(scalers.length <= 1, "never two scalers of one target");
    t.equal(owner.spec?.["replicas"] === undefined, scalers.length === 1, "replicas, or a scaler");
  }
});

inEachCase("every variable of a service is one that it knows", (t, objects) => {
  for (const { owner, spec } of servicePods(objects))
    for (const { name } of spec.containers[0]?.env ?? [])
      t.ok(Object.hasOwn(variables, name) || !name.startsWith("COFFER_"), `${keyOf(owner)} ${name}`);
});

await t.test("each service has its permissions on NATS and in Redis", (t) => {
  const objects = renderValues({ dev: { nats: { enabled: true }, redis: { enabled: true } } });
  const config = objects.find((each) => keyOf(each) === "ConfigMap/coffer-nats")?.data?.["nats.conf"] ?? "";
  for (const { name } of onBus(presentServices())) {
    const user = config.slice(config.indexOf(`user: "${name}"`)).split("user:")[1] ?? "";
    const { publish, subscribe, allowResponses } = natsPermission(name);
    const quoted = (list: string[]): string => `{ allow: ${JSON.stringify(list)} }`;
    t.ok(user.includes(`subscribe: ${quoted(subscribe)}`), name);
    t.ok(user.includes(publish.length === 0 ? 'publish: { deny: [">"] }' : `publish: ${quoted(publish)}`), name);
    t.equal(user.includes("allow_responses: { max: 1"), allowResponses, name);
  }
  t.end();
});

await t.test("each service reaches its own stores and DNS; siem-forwarder alone the internet", (t) => {
  const objects = renderValues({ siem: { allowedCidrs: ["10.9.0.0/16"] } });
  const reached = (name: string): string[] => {
    const policy = objects.find((each) => keyOf(each) === `NetworkPolicy/coffer-${name}`);
    const rules = policy?.spec?.["egress"] as { to?: unknown[]; ports: { port: number }[] }[];
    return rules.flatMap(({ to, ports }) => ports.map(({ port }) => `${port}${to === undefined ? " anywhere" : ""}`));
  };
  const shared = ["53", "53", "4222 anywhere", "6379 anywhere"];
  for (const name of ["sync", "scanner"]) t.same(reached(name).sort(), shared.sort());
  for (const name of ["auth-sm", "vaults", "billing-webhook"])
    t.same(reached(name).sort(), [...shared, "5432 anywhere"].sort());
  t.same(reached("siem-forwarder").sort(), [...shared, "5432 anywhere", "443", "8088", "9200"].sort());
  t.same(reached("console"), [], "it reaches nothing");
  const withSentinels = renderValues({ networkPolicy: { redisSentinelPort: 26379 } });
  t.match(JSON.stringify(withSentinels.find((each) => keyOf(each) === "NetworkPolicy/coffer-sync")), '"port":26379');
  const text = JSON.stringify(objects.find((each) => keyOf(each) === "NetworkPolicy/coffer-siem-forwarder"));
  for (const network of ["10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16", "10.9.0.0/16"]) t.ok(text.includes(network));
  t.end();
});

await t.test("the console has no address and no secret, and may be left out", (t) => {
  const own = (values: Record<string, unknown>): PodTemplate | undefined =>
    podTemplates(renderValues(values)).find(({ labels }) => componentOf(labels) === "console");
  const names = own({})?.spec.containers[0]?.env?.map(({ name }) => name);
  t.same(names, ["COFFER_PORT", "COFFER_MANAGEMENT_PORT", "COFFER_DRAIN_SECONDS", "COFFER_LOG_LEVEL"]);
  t.equal(own({ console: { enabled: false } }), undefined);
  t.end();
});

await t.test("without another policy no pod of the release receives or reaches anything", (t) => {
  const deny = renderValues({}).find((each) => keyOf(each) === "NetworkPolicy/coffer-default-deny");
  t.same(deny?.spec?.["policyTypes"], ["Ingress", "Egress"]);
  t.same(Object.keys(deny?.spec ?? {}).sort(), ["podSelector", "policyTypes"]);
  t.end();
});

await t.test("the Jobs of backups: which run by themselves, and what they reach and write", (t) => {
  const backup = { enabled: true, existingClaim: "claim" };
  const objects = renderValues({ backup, dev: { postgres: { enabled: true } } });
  const jobs = named(objects, "CronJob");
  const suspended = jobs.map(({ metadata, spec }) => [metadata.name, spec?.["suspend"] === true]);
  t.same(Object.fromEntries(suspended), {
    "coffer-backup": false,
    "coffer-restore": true,
    "coffer-restore-drill": false,
  });
  const stores = objects.find((each) => keyOf(each) === "NetworkPolicy/coffer-postgres");
  for (const { metadata } of jobs) {
    const component = metadata.name.slice("coffer-".length);
    t.match(JSON.stringify(stores?.spec?.["ingress"]), `"app.kubernetes.io/component":"${component}"`);
    const policy = objects.find((each) => keyOf(each) === `NetworkPolicy/${metadata.name}`);
    t.equal(policy?.spec?.["ingress"], undefined);
    const ports = ((policy?.spec?.["egress"] ?? []) as { ports: { port: number }[] }[]).flatMap((rule) => rule.ports);
    t.same(new Set(ports.map(({ port }) => port)), new Set([53, 5432]));
  }
  for (const { owner, spec } of podTemplates(jobs)) {
    const writing = containersOf(spec).filter(({ volumeMounts = [] }) =>
      volumeMounts.some((mount) => mount.name === "backup" && !("readOnly" in mount)),
    );
    t.equal(writing.length > 0, owner.metadata.name === "coffer-backup", `${keyOf(owner)} writes to the claim`);
  }
  const drill = podTemplates(jobs).find(({ owner }) => owner.metadata.name === "coffer-restore-drill");
  const server = containersOf(drill?.spec ?? { containers: [] }).find(({ name }) => name === "postgres");
  t.equal(server?.restartPolicy, "Always", "it goes on while the other containers run");
  t.match(server?.args, ["-c", "listen_addresses=127.0.0.1"], "nothing outside the pod reaches it");
  const without = renderValues({ backup: { ...backup, drill: { enabled: false } } });
  t.same(
    named(without, "CronJob")
      .map(({ metadata }) => metadata.name)
      .sort(),
    ["coffer-backup", "coffer-restore"],
  );
  t.end();
});

await t.test("migrations run before the pods, unless Postgres comes with them", (t) => {
  const external = named(renderValues({}), "Job");
  for (const job of external) t.equal(job.metadata.annotations?.["helm.sh/hook"], "pre-install,pre-upgrade");
  const helpers = renderValues({}).filter(({ metadata }) => metadata.name === "coffer-migration");
  t.same(helpers.map(({ kind }) => kind).sort(), ["NetworkPolicy", "ServiceAccount"]);
  for (const { metadata } of helpers) t.ok(Number(metadata.annotations?.["helm.sh/hook-weight"]) < 0);
  for (const job of named(renderValues({ dev: { postgres: { enabled: true } } }), "Job")) {
    t.equal(job.metadata.annotations, undefined);
    t.match(job.metadata.name, /-1$/);
  }
  t.end();
});

await t.test("the routes lead every path to its service, the WebSocket without a time limit", (t) => {
  const gateway = { enabled: true, parentRefs: [{ name: "shared" }] };
  for (const values of [{ gateway }, { ingress: { enabled: true, controller: "nginx" } }]) {
    const routes = routesOf(renderValues(values));
    const expected = presentServices().flatMap(({ name, paths }) => paths.map((path) => `${path} coffer-${name}`));
    t.same(routes.map(({ path, service }) => `${path} ${service}`).sort(), expected.sort());
    for (const { path, isLong, host } of routes) {
      t.equal(isLong, path === "/api/sync/ws", path);
      t.equal(host, "coffer.example.com");
    }
  }
  t.end();
});
