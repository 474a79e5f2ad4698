// Lints the descriptions by the redocly.yaml beside each; prints the problems and exits with 1.
import { fileURLToPath } from "node:url";
import { formatProblems, getTotals, lint, loadConfig } from "@redocly/openapi-core";
import { descriptionFile } from "./description.ts";
import { messagesFile } from "./messages.ts";

for (const file of [descriptionFile, messagesFile]) {
  const config = await loadConfig({ configPath: fileURLToPath(new URL("redocly.yaml", file)) });
  const problems = await lint({ ref: fileURLToPath(file), config });
  const totals = getTotals(problems);
  if (problems.length > 0) formatProblems(problems, { totals, format: "codeframe", color: false });
  if (totals.errors + totals.warnings > 0) process.exitCode = 1;
}
