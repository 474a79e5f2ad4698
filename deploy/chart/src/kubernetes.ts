/** The fields of Kubernetes objects that the checks read. `unknownFields` checks their form. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels; annotations?: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

export type Labels = Record<string, string>;

export interface EnvironmentEntry {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: { name: string; key: string }; fieldRef?: { fieldPath: string } };
}

export interface Probe {
  exec?: { command: string[] };
  httpGet?: { path: string; port: string | number };
  tcpSocket?: { port: string | number };
  periodSeconds?: number;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: EnvironmentEntry[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: Record<string, unknown>;
  volumeMounts?: { name: string; mountPath: string }[];
  /** `Always` for a sidecar: a container of the start that goes on. */
  restartPolicy?: string;
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  securityContext?: Record<string, unknown>;
  terminationGracePeriodSeconds?: number;
  containers: Container[];
  initContainers?: Container[];
  volumes?: Record<string, unknown>[];
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  shareProcessNamespace?: boolean;
  topologySpreadConstraints?: { topologyKey: string }[];
}

export interface PodTemplate {
  /** The object that makes the pods. */
  owner: KubernetesObject;
  labels: Labels;
  spec: PodSpec;
}

/** The pods that objects make. */
export function podTemplates(objects: readonly KubernetesObject[]): PodTemplate[] {
  return objects.flatMap((owner) => {
    // `chart.test.ts` validates every rendered object against the schema of its kind.
    if (owner.kind === "Pod")
      return [{ owner, labels: owner.metadata.labels ?? {}, spec: owner.spec as unknown as PodSpec }];
    const template = templateIn(owner);
    return template === undefined ? [] : [{ owner, labels: template.metadata?.labels ?? {}, spec: template.spec }];
  });
}

interface Template {
  metadata?: { labels?: Labels };
  spec: PodSpec;
}

/** The template of a workload: the schema of its kind, which `chart.test.ts` applies, requires it. */
function templateIn({ kind, spec }: KubernetesObject): Template | undefined {
  if (kind === "Deployment" || kind === "StatefulSet" || kind === "Job") return spec?.["template"] as Template;
  if (kind !== "CronJob") return undefined;
  return (spec?.["jobTemplate"] as { spec: { template: Template } } | undefined)?.spec.template;
}

/** All containers of a pod, including init containers. */
export function containersOf({ containers, initContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}

/** Whether labels match a selector. */
export function selects(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
