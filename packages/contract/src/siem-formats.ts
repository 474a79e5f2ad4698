/** The formats in which audit records reach a SIEM. docs/siem.md describes each. */
export const siemFormats = ["hec", "log_analytics", "logs_intake", "ecs"] as const;

export type SiemFormat = (typeof siemFormats)[number];
