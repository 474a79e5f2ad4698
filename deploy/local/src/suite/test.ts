import { checkAll, checks } from "./run-checks.ts";
import { runSuite } from "./run-suite.ts";

const out = (text: string): unknown => process.stdout.write(text);
const files = process.argv.slice(2);
const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.on(name, () => ending.abort());

// With named files, only those: the checks concern the whole checkout.
const failedChecks = files.length === 0 ? await checkAll({ out }) : 0;
const passedChecks = files.length === 0 ? checks.length - failedChecks : 0;
const suite = await runSuite({ files, out, signal: ending.signal });

const passed = suite.passed + passedChecks;
const failed = suite.failed + failedChecks;
if (process.connected) process.disconnect();
process.exitCode = failed === 0 && !ending.signal.aborted ? 0 : 1;
out(`${passed} passed, ${failed} failed\n`);
