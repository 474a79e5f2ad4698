import type { SiemFormat } from "@coffer/contract";
import type { CredentialsByFormat } from "../credentials/credentials.ts";
import type { SiemFormatter } from "./format.ts";
import { ecs } from "./ecs.ts";
import { hec } from "./hec.ts";
import { logAnalytics } from "./log-analytics.ts";
import { logsIntake } from "./logs-intake.ts";

const formats: { readonly [Format in SiemFormat]: SiemFormatter<CredentialsByFormat[Format]> } = {
  hec,
  log_analytics: logAnalytics,
  logs_intake: logsIntake,
  ecs,
};

/** The formatter of a format, for credentials that were checked for it. */
export function formatterOf(format: SiemFormat): SiemFormatter<never> {
  return formats[format];
}
