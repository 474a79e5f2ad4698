import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { helm, kubectl, namespace, release, run } from "./kube.ts";
import type { Options } from "./options.ts";
import { type Store, storeImage } from "./store-images.ts";

const chart = new URL("../../../charts/coffer", import.meta.url).pathname;
const command = new URL("../../../packages/cli/bin/coffer.mjs", import.meta.url).pathname;

/** The host name of the gateway for pods. */
export const insideHost = "coffer.cluster.test";

/** A typical namespace of a platform team: Pod Security `restricted`, no traffic between pods. */
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
  await run("kubectl", ["apply", "--filename", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
  });
}

/** Removes the namespace with its content. */
export async function removeNamespace(): Promise<void> {
  await run("kubectl", ["delete", "namespace", namespace, "--ignore-not-found", "--wait", "--timeout=120s"]);
}

/** The values for this cluster, with the development stores. */
export async function valuesFor(options: Options): Promise<object> {
  const [gatewayNamespace = "", gatewayName = ""] = options.gateway.split("/");
  const [serviceNamespace = "", serviceName = ""] = options.gatewayService.split("/");
  const address = await run("kubectl", [
    ...["get", "service", serviceName, "--namespace", serviceNamespace, "--output", "jsonpath={.spec.clusterIP}"],
  ]);
  const peers = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": serviceNamespace } } }];
  const image = (store: Store): object => ({
    enabled: true,
    ...(options.localImages ? { image: storeImage(store) } : {}),
  });
  return {
    baseUrls: [`http://${insideHost}`, options.url],
    existingSecret: "coffer-dev",
    billing: { enabled: true },
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

/** Signs the webhooks of the cases about billing. */
export const stripeSecret = "whsec_of_the_cluster_under_test";

/** The Secret of the development stores, as documented, with the signing secret of the webhook. */
export async function makeSecret(): Promise<void> {
  await kubectl(["apply", "--filename", "-"], await run(command, ["dev", "secrets"]));
  const stringData = { "billing-webhook.COFFER_STRIPE_WEBHOOK_SECRETS": stripeSecret };
  await kubectl(["patch", "secret", "coffer-dev", "--patch", JSON.stringify({ stringData })]);
}

/** `helm upgrade --install --wait` with additional values. Returns the notes. */
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
    "10m",
  ]);
}
