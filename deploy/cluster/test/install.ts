import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { helm, kubectl, namespace, release, run } from "./kube.ts";
import type { Options } from "./options.ts";
import type { StoreImage } from "./store-images.ts";

const chart = new URL("../../../charts/coffer", import.meta.url).pathname;
const command = new URL("../../../packages/cli/bin/coffer.mjs", import.meta.url).pathname;

/** The host name by which pods reach the gateway. */
export const insideHost = "coffer.cluster.test";

/** A namespace as a platform team gives it out: Pod Security `restricted`, and nothing allowed between pods. */
export async function makeNamespace(): Promise<void> {
  const labels = Object.fromEntries(
    ["enforce", "warn", "audit"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]),
  );
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "default-deny", namespace },
      spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
    },
  ];
  await run(
    "kubectl",
    ["apply", "--filename", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
  );
}

/** Removes the namespace with all that is in it. */
export async function removeNamespace(): Promise<void> {
  await run("kubectl", ["delete", "namespace", namespace, "--ignore-not-found", "--wait", "--timeout=120s"]);
}

/** The values for this cluster, with the development stores. */
export async function valuesFor(options: Options, stores: readonly StoreImage[]): Promise<object> {
  const [gatewayNamespace = "", gatewayName = ""] = options.gateway.split("/");
  const [serviceNamespace = "", serviceName = ""] = options.gatewayService.split("/");
  const address = await run("kubectl", [
    ...["get", "service", serviceName, "--namespace", serviceNamespace, "--output", "jsonpath={.spec.clusterIP}"],
  ]);
  const peers = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": serviceNamespace } } }];
  const image = (store: StoreImage["store"]): object => {
    const built = stores.find((one) => one.store === store);
    return { enabled: true, ...(built === undefined ? {} : { image: built.image }) };
  };
  return {
    baseUrls: [`http://${insideHost}`, options.url],
    existingSecret: "coffer-dev",
    trustedProxyCidrs: [options.proxyCidr],
    dev: { postgres: image("postgres"), nats: image("nats"), redis: image("redis") },
    gateway: {
      enabled: true,
      parentRefs: [{ namespace: gatewayNamespace, name: gatewayName }],
      hostnames: [insideHost, new URL(options.url).hostname],
    },
    networkPolicy: { gatewayPeers: peers },
    tests: { hostAliases: [{ ip: address, hostnames: [insideHost] }], gatewayPeers: peers },
  };
}

/** The Secret of the development stores, as the documentation makes it. */
export async function makeSecret(): Promise<void> {
  await kubectl(["apply", "--filename", "-"], await run(command, ["dev", "secrets"]));
}

/** `helm upgrade --install --wait` with values of its own on top. Returns the notes. */
export async function install(directory: string, values: object, more: object = {}): Promise<string> {
  const files = [values, more].map((each, index) => {
    const file = join(directory, `values-${index}.json`);
    writeFileSync(file, JSON.stringify(each));
    return ["--values", file];
  });
  return helm([
    "upgrade",
    "--install",
    release,
    chart,
    ...files.flat(),
    "--wait",
    "--wait-for-jobs",
    "--timeout",
    "5m",
  ]);
}
