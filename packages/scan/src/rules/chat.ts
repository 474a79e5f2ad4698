import type { Rule } from "../rule.ts";
import { contextRule } from "./context-rule.ts";
import { base62, base64Url, digits, leftEdge, lowerHex, ofCharacters, tokenRule, uuid } from "./shape.ts";

const telegramToken = tokenRule({
  id: "telegram-bot-token",
  kind: "chat-platform bot token",
  description: "Telegram bot token",
  reference: "https://core.telegram.org/bots/features#botfather",
  shape: [digits(8, 10), ":AA", base64Url(33)],
  keywords: [":AA"],
  shown: /^$/,
  minEntropy: 4,
});

export const chatRules: readonly Rule[] = [
  tokenRule({
    id: "teams-incoming-webhook",
    kind: "chat-platform incoming-webhook URL",
    description: "Microsoft Teams incoming webhook",
    reference:
      "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook",
    shape: [".webhook.office.com/webhookb2/", ...uuid, "@", ...uuid, "/IncomingWebhook/", lowerHex(32), "/", ...uuid],
    keywords: [".webhook.office.com/"],
  }),
  tokenRule({
    id: "discord-webhook",
    kind: "chat-platform incoming-webhook URL",
    description: "Discord webhook",
    reference: "https://discord.com/developers/docs/resources/webhook",
    shape: [
      ofCharacters("/.", 1),
      "discord",
      ofCharacters("ap", 0, 3),
      ".com/api/webhooks/",
      digits(17, 20),
      "/",
      base64Url(60, 72),
    ],
    keywords: ["/api/webhooks/"],
    shown: /^.*\/webhooks\//,
    minEntropy: 4,
  }),
  contextRule({
    id: "discord-bot-token",
    kind: "chat-platform bot token",
    description: "Discord bot token",
    reference: "https://discord.com/developers/docs/reference#authentication",
    revoke: "https://discord.com/developers/applications",
    names: ["discord", "bot_token", "bottoken", "Bot ", ".login(", "client.run(", "bot.run("],
    shape: [ofCharacters("MNO", 1), base62(23, 27), ".", base64Url(6), ".", base64Url(38)],
    minEntropy: 4,
    confidence: "high",
  }),
  {
    ...telegramToken,
    // In the address of a request `bot` stands before the token.
    pattern: new RegExp(`(?:${leftEdge}|(?<=/bot))(?<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])`, "gd"),
  },
  tokenRule({
    id: "google-chat-webhook",
    kind: "chat-platform incoming-webhook URL",
    description: "Webhook of Google Chat",
    reference: "https://developers.google.com/workspace/chat/quickstart/webhooks",
    shape: [
      "chat.googleapis.com/v1/spaces/",
      base64Url(8, 20),
      "/messages?key=AIza",
      base64Url(35),
      "&token=",
      base64Url(40, 60),
    ],
    keywords: ["chat.googleapis.com/v1/spaces/"],
  }),
];
