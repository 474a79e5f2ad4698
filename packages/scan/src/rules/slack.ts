import { entropy } from "../checks/entropy.ts";
import { isPlaceholder } from "../checks/placeholder.ts";
import type { Rule } from "../rule.ts";
import { base62, base64Url, digits, leftEdge, lowerHex, ofCharacters, tokenRule, upperBase36 } from "./shape.ts";

const reference = "https://api.slack.com/concepts/token-types";
const revoke = "https://api.slack.com/apps";

/** The least entropy of a random last part: 3.6 at 24 characters, less for fewer. */
const leastEntropy = (length: number): number => 3.6 + Math.min(0, length - 24) * 0.06;

const botPattern = `xoxb-[0-9]{8,14}-(?:[0-9]{8,14}-)?[A-Za-z0-9]{18,26}(?![A-Za-z0-9-])`;
const rotatedPattern = `xoxe\\.xoxb-1-[A-Za-z0-9]{163,166}(?![A-Za-z0-9])`;

export const slackRules: readonly Rule[] = [
  {
    id: "slack-bot-token",
    kind: "chat-platform bot token",
    description: "Slack bot token",
    reference,
    revoke,
    keywords: ["xoxb-"],
    pattern: new RegExp(`${leftEdge}(?<secret>${rotatedPattern})|${leftEdge}${botPattern}`, "gd"),
    confidence: "high",
    shown: /^xox[be](?:\.xoxb-1)?[-.]/,
    check: ({ secret }) => {
      const last = secret.slice(secret.lastIndexOf("-") + 1);
      if (isPlaceholder(last) || entropy(last) < leastEntropy(last.length)) return null;
      return { confidence: "high", identity: Buffer.from(secret, "latin1") };
    },
    examples: {
      positive: (random) => [
        `xoxb-${random.text("123456789", 12)}-${random.text("123456789", 13)}-${sure(random.text(letters, 24), () => random.text(letters, 24))}`,
        `xoxe.xoxb-1-${random.text(letters, 166)}`,
      ],
      negative: (random) => [
        `xoxb-1-1-${random.text(letters, 24)}`,
        `xoxb-${random.text("123456789", 12)}-${random.text("123456789", 13)}-${random.text(letters, 12)}`,
        `xoxb-${random.text("123456789", 12)}-${random.text("123456789", 13)}-${"x".repeat(24)}`,
        `xoxb-${random.text("123456789", 12)}-${random.text("123456789", 13)}-${random.text(letters, 40)}`,
        `axoxb-${random.text("123456789", 12)}-${random.text("123456789", 13)}-${random.text(letters, 24)}`,
      ],
    },
  },
  {
    id: "slack-incoming-webhook",
    kind: "chat-platform incoming-webhook URL",
    description: "Slack incoming webhook",
    reference: "https://api.slack.com/messaging/webhooks",
    revoke,
    keywords: ["hooks.slack.com"],
    pattern:
      /(?<secret>(?:https?:\\?\/\\?\/)?hooks\.slack\.com\\?\/(?:services\\?\/T[A-Za-z0-9]{7,12}\\?\/B[A-Za-z0-9]{7,12}\\?\/[A-Za-z0-9]{23,25}|workflows\\?\/T[A-Za-z0-9]{7,12}\\?\/A[A-Za-z0-9]{7,12}\\?\/[0-9]{15,22}\\?\/[A-Za-z0-9]{23,25}|triggers\\?\/[TE][A-Za-z0-9]{7,12}\\?\/[0-9]{10,16}\\?\/[0-9a-f]{32}))(?![A-Za-z0-9])/dg,
    confidence: "high",
    shown: /^.*hooks\.slack\.com\\?\/[a-z]+\\?\//,
    check: ({ secret }) => {
      const plain = secret.replaceAll("\\", "");
      const last = plain.slice(plain.lastIndexOf("/") + 1);
      if (/T0{8}|B0{8}/.test(plain) || isPlaceholder(last) || entropy(last) < 3) return null;
      // One webhook, with and without its scheme or escapes.
      return { confidence: "high", identity: Buffer.from(plain.slice(plain.indexOf("hooks.")), "latin1") };
    },
    examples: {
      positive: (random) => {
        const [team, bot] = [`T${random.text(capitals, 10)}`, `B${random.text(capitals, 10)}`];
        const key = sure(random.text(letters, 24), () => random.text(letters, 24));
        return [
          `https://hooks.slack.com/services/${team}/${bot}/${key}`,
          `hooks.slack.com/services/${team}/${bot}/${key}`,
          `"https:\\/\\/hooks.slack.com\\/services\\/${team}\\/${bot}\\/${key}"`,
          `https://hooks.slack.com/workflows/${team}/A${bot.slice(1)}/${random.text("123456789", 18)}/${key}`,
          `https://hooks.slack.com/triggers/${team}/${random.text("123456789", 13)}/${random.text("0123456789abcdef", 32)}`,
        ];
      },
      negative: (random) => [
        `https://hooks.slack.com/services/T00000000/B00000000/${"X".repeat(24)}`,
        `https://hooks.slack.com/services/T${random.text(capitals, 10)}/B${random.text(capitals, 10)}/short`,
        `https://hooks.slack.com/services/${random.text("uvwxyz", 10)}/B${random.text(capitals, 10)}/${random.text(letters, 24)}`,
      ],
    },
  },
  tokenRule({
    id: "slack-user-token",
    kind: "chat-platform user token",
    description: "Slack user token",
    reference,
    revoke,
    shape: ["xoxp-", digits(10, 13), "-", digits(10, 13), "-", digits(10, 13), "-", lowerHex(32)],
    shown: /^xoxp-/,
  }),
  tokenRule({
    id: "slack-app-token",
    kind: "chat-platform app token",
    description: "Slack app-level token",
    reference,
    revoke,
    shape: ["xapp-", digits(1), "-A", upperBase36(8, 12), "-", digits(10, 14), "-", lowerHex(64)],
  }),
  tokenRule({
    id: "slack-client-token",
    kind: "chat-platform session token",
    description: "Slack client token",
    reference,
    shape: ["xoxc-", digits(10, 13), "-", digits(10, 13), "-", digits(10, 13), "-", lowerHex(64)],
  }),
  tokenRule({
    id: "slack-session-cookie",
    kind: "chat-platform session cookie",
    description: "Slack session cookie",
    reference,
    shape: ["xoxd-", ofCharacters("A-Za-z0-9%+/_-", 100, 400)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "slack-refresh-token",
    kind: "chat-platform refresh token",
    description: "Slack refresh token",
    reference,
    revoke,
    shape: ["xoxe-", digits(1), "-", base62(143, 150)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "slack-rotated-user-token",
    kind: "chat-platform user token",
    description: "Slack user token with rotation",
    reference,
    revoke,
    shape: ["xoxe.xoxp-", digits(1), "-", base64Url(160, 170)],
    keywords: ["xoxe.xoxp-"],
    minEntropy: 4,
  }),
];

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ123456789";

/** A random last part whose entropy is above the cut-off: all but one in a thousand. */
function sure(first: string, again: () => string): string {
  let text = first;
  while (isPlaceholder(text) || entropy(text) < 3.6) text = again();
  return text;
}
