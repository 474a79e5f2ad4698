import { pathToFileURL } from "node:url";
import type { Confidence, Finding, Location } from "@coffer/scan";
import type { ArtifactLocation, Location as SarifLocation, Log, ReportingDescriptor, Result } from "sarif";
import { type Report, shown } from "./report.ts";
import { descriptionOf, referenceOf, revokeOf } from "./rule-text.ts";

const levels: Readonly<Record<Confidence, Result.level>> = { high: "error", medium: "warning", low: "note" };

/** SARIF 2.1.0: one result for each secret. What was suppressed is left out. */
export function sarifReport({ findings, problems, version }: Report): string {
  const ids = [...new Set(findings.map(({ rule_id }) => rule_id))].sort();
  const rules = ids.map((id) => ruleOf(findings.find(({ rule_id }) => rule_id === id) as Finding));
  const log: Log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "coffer scan", semanticVersion: version, rules } },
        columnKind: "utf16CodeUnits",
        originalUriBaseIds: { SRCROOT: { description: { text: "the root of the repository or of the scan" } } },
        invocations: [
          {
            executionSuccessful: problems.length === 0,
            toolExecutionNotifications: problems.map(({ path, message }) => ({
              level: "error",
              message: { text: `${path} ${message}` },
              locations: [{ physicalLocation: { artifactLocation: artifact(path) } }],
            })),
          },
        ],
        results: findings.map((finding) => resultOf(finding, ids.indexOf(finding.rule_id))),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function ruleOf(finding: Finding): ReportingDescriptor {
  const reference = referenceOf(finding);
  const revoke = revokeOf(finding);
  return {
    id: finding.rule_id,
    shortDescription: { text: descriptionOf(finding) },
    fullDescription: { text: `${descriptionOf(finding)} (${finding.kind})` },
    ...(reference === undefined ? {} : { helpUri: reference }),
    ...(revoke === undefined ? {} : { help: { text: `Revoke it: ${revoke}` } }),
    properties: { tags: ["security", "secret"], precision: "high" },
  };
}

function resultOf(finding: Finding, ruleIndex: number): Result {
  const { rule_id, kind, confidence, fingerprint, checksum, length, locations, account_id } = finding;
  return {
    ruleId: rule_id,
    ruleIndex,
    level: levels[confidence],
    message: { text: `${descriptionOf(finding)} (${kind}): ${shown(finding)}` },
    locations: locations.map((location) => locationOf(location, shown(finding))),
    partialFingerprints: { "cofferFingerprint/v1": fingerprint },
    properties: { confidence, checksum, length, ...(account_id === undefined ? {} : { account_id }) },
  };
}

function locationOf(
  { path, start_line, start_column, end_line, end_column, commit }: Location,
  text: string,
): SarifLocation {
  return {
    physicalLocation: {
      artifactLocation: artifact(path),
      region: {
        startLine: start_line,
        startColumn: start_column,
        endLine: end_line,
        endColumn: end_column,
        snippet: { text },
      },
    },
    ...(commit === undefined ? {} : { properties: { commit } }),
  };
}

function artifact(path: string): ArtifactLocation {
  if (path.startsWith("/")) return { uri: pathToFileURL(path).href };
  return { uri: path.split("/").map(encodeURIComponent).join("/"), uriBaseId: "SRCROOT" };
}
