import { checkAll } from "./run-checks.ts";

const failed = await checkAll({ out: (text) => process.stdout.write(text) });
process.exitCode = failed === 0 ? 0 : 1;
