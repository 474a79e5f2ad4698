import { styleText } from "node:util";
import type { Finding, Location } from "@coffer/scan";
import { visible } from "../../output/output.ts";
import { type Report, shown } from "./report.ts";
import { descriptionOf, revokeOf } from "./rule-text.ts";

const shownPlaces = 10;

/** Findings for a person: where, what, and what to do. Empty without findings. */
export function textReport({ findings }: Report): string {
  return findings.map(findingText).join("\n");
}

function findingText(finding: Finding): string {
  const { locations, confidence, kind, length, checksum, fingerprint, account_id: account } = finding;
  const [first, ...others] = locations;
  const checked = checksum === "none" ? "" : `, checksum ${checksum}`;
  const revoke = revokeOf(finding);
  const lines = [
    `${bold(first === undefined ? "" : place(first))}  ${descriptionOf(finding)} (${kind}), confidence ${confidence}`,
    `  ${visible(shown(finding))}  ${length} bytes${checked}${account === undefined ? "" : `, account ${account}`}`,
    ...others.slice(0, shownPlaces).map((each) => `  also in ${place(each)}`),
    ...(others.length > shownPlaces ? [`  and in ${others.length - shownPlaces} more places`] : []),
    ...(revoke === undefined ? [] : [`  revoke: ${revoke}`]),
    `  ${fingerprint}`,
  ];
  return `${lines.join("\n")}\n`;
}

function place({ path, start_line, start_column, commit }: Location): string {
  const at = `${visible(path)}:${start_line}:${start_column}`;
  return commit === undefined ? at : `${at} in commit ${commit.slice(0, 12)}`;
}

function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}
