/**
 * How Node runs a service that has a process of its own. A young generation of 4 MiB instead of 16 keeps an idle
 * service some 10 MiB smaller and costs a request nothing that can be measured. The heap may grow to three times what
 * was in use after the last full collection, what buffers hold included: by itself V8 settles for little more than that
 * where a service allocates hardly anything but buffers, and collected five times during a sync of 27 MiB, which took
 * sync three quarters of its CPU (docs/benchmarks.md).
 */
export const nodeFlags: readonly string[] = ["--max-semi-space-size=4", "--heap-growing-percent=200"];
