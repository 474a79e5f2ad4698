import type { Mutant } from "../../mutant.ts";

const templates = "charts/coffer/templates";
const tests = ["deploy/chart/test/values.test.ts", "deploy/chart/test/chart.test.ts"] as const;

/** The chart's pods, networks and credentials. */
export const chartMutants: readonly Mutant[] = [
  {
    name: "containers-of-the-chart-may-gain-privileges",
    file: `${templates}/_pods.tpl`,
    find: "allowPrivilegeEscalation: false",
    replace: "allowPrivilegeEscalation: true",
    tests,
  },
  {
    name: "pods-of-the-chart-have-a-token-of-the-api",
    file: `${templates}/_pods.tpl`,
    find: "automountServiceAccountToken: false",
    replace: "automountServiceAccountToken: true",
    tests,
  },
  {
    name: "siem-forwarder-reaches-private-networks",
    file: `${templates}/_network.tpl`,
    find: "          - 10.0.0.0/8\n",
    replace: "",
    tests,
  },
  {
    name: "every-service-reaches-the-internet",
    file: `${templates}/_network.tpl`,
    find: "{{- if .row.internet }}",
    replace: "{{- if true }}",
    tests,
  },
  {
    name: "default-deny-of-the-chart-leaves-egress-open",
    file: `${templates}/network-policy.yaml`,
    find: "    - Ingress\n    - Egress\n",
    replace: "    - Ingress\n",
    tests,
  },
  {
    name: "a-pod-of-the-chart-ends-before-its-connections-are-drained",
    file: `${templates}/_services.tpl`,
    find: "graceSeconds: 60",
    replace: "graceSeconds: 30",
    tests,
  },
  {
    name: "the-chart-trusts-all-addresses-as-proxies",
    file: "charts/coffer/values.schema.json",
    find: '"pattern": "/0$"',
    replace: '"pattern": "/00$"',
    tests,
  },
  {
    name: "a-services-own-secret-does-not-win",
    file: `${templates}/_environment.tpl`,
    find: "{{- if $own }}",
    replace: "{{- if not .root.Values.existingSecret }}",
    tests,
  },
  {
    name: "services-of-the-chart-may-always-write-their-root-file-systems",
    file: `${templates}/_pods.tpl`,
    find: "{{- if .root.Values.dev.writableRootFilesystem -}}",
    replace: "{{- if true -}}",
    tests,
  },
  {
    name: "production-may-write-root-file-systems",
    file: "charts/coffer/values.schema.json",
    find: `"writableRootFilesystem": {
                "const": false
              }`,
    replace: `"writableRootFilesystem": {
                "type": "boolean"
              }`,
    tests,
  },
  {
    name: "the-test-on-kubernetes-takes-an-address-without-a-host-name",
    file: "deploy/cluster/test/options.ts",
    find: "isIP(new URL(each).hostname",
    replace: "isIP(new URL(each).host",
    tests: ["deploy/cluster/test/options.test.ts"],
  },
  {
    name: "the-development-postgres-has-its-usual-connections",
    file: "charts/coffer/templates/_stores.tpl",
    find: "{{- $sum = add $sum (mul 20 (add 1 $replicas)) -}}",
    replace: "",
    tests: ["deploy/chart/test/values.test.ts", "deploy/chart/test/chart.test.ts"],
  },
];
