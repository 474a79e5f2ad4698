import type { Rule } from "../rule.ts";
import { aiRules } from "./ai.ts";
import { awsRules } from "./aws.ts";
import { azureRules } from "./azure.ts";
import { chatRules } from "./chat.ts";
import { collaborationRules } from "./collaboration.ts";
import { commerceRules } from "./commerce.ts";
import { genericRules } from "./generic.ts";
import { githubRules } from "./github.ts";
import { gitlabRules } from "./gitlab.ts";
import { googleRules } from "./google.ts";
import { hostingRules } from "./hosting.ts";
import { infrastructureRules } from "./infrastructure.ts";
import { mailRules } from "./mail.ts";
import { monitoringRules } from "./monitoring.ts";
import { privateKeyRules } from "./private-keys.ts";
import { registryRules } from "./registries.ts";
import { slackRules } from "./slack.ts";
import { stripeRules } from "./stripe.ts";

/** Every built-in rule, those that are off by default too. */
export const builtInRules: readonly Rule[] = [
  ...awsRules,
  ...githubRules,
  ...slackRules,
  ...stripeRules,
  ...privateKeyRules,
  ...gitlabRules,
  ...registryRules,
  ...chatRules,
  ...commerceRules,
  ...googleRules,
  ...azureRules,
  ...hostingRules,
  ...infrastructureRules,
  ...monitoringRules,
  ...mailRules,
  ...aiRules,
  ...collaborationRules,
  ...genericRules,
];
