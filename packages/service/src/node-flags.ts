/**
 * How Node runs a service that has a process of its own. A young generation of 4 MiB instead of 16 keeps an idle
 * service some 10 MiB smaller and costs a request nothing that can be measured (docs/benchmarks.md).
 */
export const nodeFlags: readonly string[] = ["--max-semi-space-size=4"];
