// Checks the description by the rules of docs/spec/api/redocly.yaml; prints what is wrong and ends with 1.
import { fileURLToPath } from "node:url";
import { formatProblems, getTotals, lint, loadConfig } from "@redocly/openapi-core";
import { descriptionFile } from "./description.ts";

const config = await loadConfig({ configPath: fileURLToPath(new URL("redocly.yaml", descriptionFile)) });
const problems = await lint({ ref: fileURLToPath(descriptionFile), config });
const totals = getTotals(problems);
if (problems.length > 0) formatProblems(problems, { totals, format: "codeframe", color: false });
process.exitCode = totals.errors + totals.warnings > 0 ? 1 : 0;
