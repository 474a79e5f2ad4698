import { createEngine } from "../engine/create-engine.ts";
import type { Engine } from "../engine/create-engine.ts";
import { customRule } from "../custom/custom-rule.ts";
import type { CustomRule } from "../custom/custom-rule.ts";
import { builtInRules } from "../rules/index.ts";
import { selectRules } from "../select-rules.ts";
import type { RuleChoice } from "../select-rules.ts";
import type { JobSettings } from "./job.ts";

/** Which rules a worker runs: functions do not travel between threads, so it makes them itself. */
export type RuleSource = { builtIn: RuleChoice } | { custom: readonly CustomRule[] };

export interface WorkerSettings {
  rules: RuleSource;
  settings: JobSettings;
  /** Where the worker writes the index of the rule that it runs. */
  running?: SharedArrayBuffer;
}

/** A worker's first message. */
export interface Ready {
  /** The folder of its thread in /proc, where the system has that. */
  task: string | undefined;
}

export function engineOf(rules: RuleSource): Engine {
  return createEngine("builtIn" in rules ? selectRules(builtInRules, rules.builtIn) : rules.custom.map(customRule));
}
