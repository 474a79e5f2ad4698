import { crcLittleEndianHex } from "./second-corpus-checksums.ts";
import { numberOf, token, words } from "./second-corpus-kind.ts";
import type { Kind } from "./second-corpus-kind.ts";
import { base36, base62, base64, base64url, digits, hex, lower, upper } from "./second-corpus-random.ts";
import type { Draw } from "./second-corpus-random.ts";

const slackId = (draw: Draw, letter: string): string => `${letter}0${draw.text(`${digits}${upper}`, 9)}`;
const slackNumber = (draw: Draw): string => numberOf(draw, draw.between(12, 13));

function stripe(name: string, prefix: string, more: Partial<Kind> = {}): Kind {
  const variable = prefix.startsWith("whsec") ? "STRIPE_WEBHOOK_SECRET" : "STRIPE_SECRET_KEY";
  const base = token({ name, variable, prefix, alphabet: base62, length: 24, open: true });
  return {
    ...base,
    make: (draw) => `${prefix}${draw.pick(["", "51"])}${draw.text(base62, draw.pick([24, 99, 99]))}`,
    texts: (_, value) => [
      `curl https://api.stripe.com/v1/charges -u ${value}:\n`,
      `stripe.api_key = "${value}"\n`,
      `const stripe = require("stripe")("${value}");\n`,
      `Stripe.apiKey = "${value}";\n`,
      `\\Stripe\\Stripe::setApiKey('${value}');\n`,
    ],
    ...more,
  };
}

const stripeNear = (prefix: string) => (draw: Draw) => [
  `sk_live_${["4eC39HqLyjWD", "arjtT1zdp7dc"].join("")}`,
  `${prefix}${"x".repeat(24)}`,
  `${prefix}...`,
  `${prefix}your_key_here`,
  `${prefix}${draw.text(base62, 6)}`,
  `ta${prefix}${draw.text(base62, 24)}`,
  `di${prefix}${draw.text(lower, 24)}`,
  `${prefix}${"*".repeat(24)}`,
  `pk_live_${draw.text(base62, 24)}`,
  `${prefix}1234567890abcdefghijklmn`,
  `${prefix}EXAMPLE${"x".repeat(17)}`,
  `cus_${draw.text(base62, 14)}`,
  `price_1${draw.text(base62, 23)}`,
];

const slackUrl = (draw: Draw): string =>
  `https://hooks.slack.com/services/${slackId(draw, "T")}/${slackId(draw, "B")}/${draw.text(base62, 24)}`;

const openai = (draw: Draw, prefix: string, length: number): string =>
  `${prefix}${draw.text(prefix === "sk-" ? base62 : base64url, length)}T3BlbkFJ${draw.text(prefix === "sk-" ? base62 : base64url, length)}`;

export const serviceKinds: Kind[] = [
  {
    name: "Slack bot token",
    term: "chat-platform bot token",
    variable: "SLACK_BOT_TOKEN",
    make: (draw) => `xoxb-${slackNumber(draw)}-${slackNumber(draw)}-${draw.text(base62, 24)}`,
    texts: (_, value) => [
      `curl -H "Authorization: Bearer ${value}" https://slack.com/api/auth.test\n`,
      `https://slack.com/api/chat.postMessage?token=${value}&channel=C1\n`,
    ],
    near: (draw) => [
      "xoxb-your-token",
      "xoxb-...",
      `xoxb-${"0".repeat(12)}-${"0".repeat(12)}-${"x".repeat(24)}`,
      `xoxb-${slackNumber(draw)}-${draw.text(base62, 24)}`.slice(0, 25),
      `xoxb-${slackNumber(draw)}-${slackNumber(draw)}-${"X".repeat(24)}`,
      ["xoxb-17653672481", "19874698323", "pdFZKVeTuE8sk7oOcBrzbqgy"].join("-"),
      "xoxb-not-a-real-token-this-will-not-work",
      `xoxb-${slackNumber(draw)}-${slackNumber(draw)}-${draw.text(base62, 6)}`,
      `xoxb-${draw.text(lower, 12)}-${draw.text(lower, 12)}-${draw.text(base62, 24)}`,
      "xoxb-1-1-1",
    ],
  },
  {
    name: "Slack rotated bot token",
    term: "chat-platform bot token",
    variable: "SLACK_BOT_TOKEN",
    make: (draw) => `xoxe.xoxb-1-${draw.text(`${digits}${upper}${lower}`, draw.between(163, 166))}`,
    near: () => ["xoxe.xoxb-1-...", "xoxe.xoxb-1-xxxxxxxxxxxxxxxxxxxxxxxx"],
  },
  {
    name: "Slack webhook",
    term: "chat-platform incoming-webhook URL",
    variable: "SLACK_WEBHOOK_URL",
    make: slackUrl,
    core: (value) => value.split("/").slice(-2).join("/"),
    texts: (_, value) => [
      `curl -X POST -H 'Content-type: application/json' --data '{"text":"hi"}' ${value}\n`,
      `{"webhook":"${value.replaceAll("/", "\\/")}"}\n`,
      `url: ${value.replace("https://", "")}\n`,
    ],
    near: (draw) => [
      `https://hooks.slack.com/services/T00000000/B00000000/${"X".repeat(24)}`,
      "https://hooks.slack.com/services/...",
      `https://hooks.slack.com/services/${slackId(draw, "T")}`,
      "https://hooks.slack.com/services/YOUR/WEBHOOK/URL",
      `https://hooks.slack.com/services/TXXXXXXXX/BXXXXXXXX/${"x".repeat(24)}`,
      "https://hooks.slack.com/services/${TEAM}/${BOT}/${TOKEN}",
      `https://app.slack.com/client/${slackId(draw, "T")}/${slackId(draw, "C")}`,
      `https://hooks.slack.com/services/${slackId(draw, "T")}/${slackId(draw, "B")}/${draw.text(base62, 8)}`,
    ],
  },
  {
    name: "Slack user token",
    variable: "SLACK_USER_TOKEN",
    make: (draw) => `xoxp-${slackNumber(draw)}-${slackNumber(draw)}-${slackNumber(draw)}-${draw.text(hex, 32)}`,
    near: () => ["xoxp-your-token", "xoxp-1234", `xoxp-${"0".repeat(12)}-${"0".repeat(12)}-${"0".repeat(32)}`],
  },
  {
    name: "Slack app token",
    variable: "SLACK_APP_TOKEN",
    make: (draw) => `xapp-1-${slackId(draw, "A")}-${slackNumber(draw)}-${draw.text(hex, 64)}`,
    near: () => ["xapp-1-...", "xapp-your-token", `xapp-1-A0000000000-0000000000000-${"x".repeat(64)}`],
  },
  {
    name: "Slack client token",
    variable: "SLACK_XOXC_TOKEN",
    make: (draw) => `xoxc-${slackNumber(draw)}-${slackNumber(draw)}-${slackNumber(draw)}-${draw.text(hex, 64)}`,
    near: () => ["xoxc-...", "xoxc-your-token"],
  },
  {
    name: "Slack session cookie",
    variable: "SLACK_XOXD_TOKEN",
    make: (draw) => `xoxd-${encodeURIComponent(`${draw.text(base64, 160)}==`)}`,
    near: () => ["xoxd-...", "xoxd-your-cookie"],
  },
  {
    name: "Teams webhook",
    variable: "TEAMS_WEBHOOK_URL",
    make: (draw) =>
      `https://acme${draw.text(lower, 4)}.webhook.office.com/webhookb2/${draw.uuid()}@${draw.uuid()}/IncomingWebhook/${draw.text(hex, 32)}/${draw.uuid()}`,
    core: (value) => value.slice(-60),
    near: () => [
      "https://acme.webhook.office.com/webhookb2/<id>/IncomingWebhook/<id>",
      "https://outlook.office.com/webhook/...",
    ],
  },
  {
    name: "Discord webhook",
    variable: "DISCORD_WEBHOOK_URL",
    make: (draw) => `https://discord.com/api/webhooks/${numberOf(draw, 19)}/${draw.text(base64url, 68)}`,
    core: (value) => value.slice(value.indexOf("discord")),
    near: (draw) => [
      `https://discord.com/api/webhooks/${numberOf(draw, 19)}`,
      "https://discord.com/api/webhooks/{id}/{token}",
      `https://discord.com/api/webhooks/000000000000000000/${"x".repeat(68)}`,
      `https://discord.com/channels/${numberOf(draw, 18)}/${numberOf(draw, 18)}`,
    ],
  },
  {
    name: "Discord bot token",
    variable: "DISCORD_TOKEN",
    // It has no fixed characters to look for: each part is random or a number in base64.
    named: true,
    texts: (_, value) => [
      `client.login("${value}");\n`,
      `client.run('${value}')\n`,
      `curl -H "Authorization: Bot ${value}" https://discord.com/api/users/@me\n`,
    ],
    make: (draw) =>
      `${Buffer.from(numberOf(draw, 18)).toString("base64url")}.G${draw.text(base64url, 5)}.${draw.text(base64url, 38)}`,
    near: (draw) => [
      `${draw.text(base64url, 24)}.${draw.text(base64url, 6)}.${draw.text(base64url, 10)}`,
      `${Buffer.from(words(draw, "_", 18)).toString("base64url")}.Gabcde.${"x".repeat(38)}`,
      "your.discord.token",
      ["MTk4NjIyNDgzNDcxOTI1MjQ4", "Cl2FMQ", "ZnCjm1XVW7vRze4b7Cq4se7kKWs"].join("."),
    ],
  },
  {
    name: "Telegram bot token",
    variable: "TELEGRAM_BOT_TOKEN",
    make: (draw) => `${numberOf(draw, 10)}:AA${draw.text(base64url, 33)}`,
    texts: (_, value) => [`curl https://api.telegram.org/bot${value}/getMe\n`],
    near: (draw) => [
      `${numberOf(draw, 10)}:${draw.text(base64url, 12)}`,
      `1234567890:AA${"x".repeat(33)}`,
      `${draw.between(10, 23)}:AA${draw.text(base64url, 33)}`,
      ["110201543", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"].join(":"),
      "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11",
    ],
  },
  stripe("Stripe live secret key", "sk_live_", {
    term: "payment-processor live secret key",
    near: stripeNear("sk_live_"),
  }),
  stripe("Stripe live restricted key", "rk_live_", {
    term: "payment-processor live restricted key",
    near: stripeNear("rk_live_"),
  }),
  stripe("Stripe test key", "sk_test_", { low: true, near: () => [`sk_test_${"x".repeat(24)}`, "sk_test_..."] }),
  {
    ...token({
      name: "Stripe webhook secret",
      variable: "STRIPE_WEBHOOK_SECRET",
      prefix: "whsec_",
      alphabet: base62,
      length: 32,
      open: true,
    }),
    texts: (_, value) => [`const endpointSecret = "${value}";\n`],
  },
  token({
    name: "Square access token",
    variable: "SQUARE_ACCESS_TOKEN",
    prefix: "EAAA",
    alphabet: base64url,
    length: 60,
  }),
  token({ name: "Square older token", variable: "SQUARE_TOKEN", prefix: "sq0atp-", alphabet: base64url, length: 22 }),
  token({
    name: "Square OAuth secret",
    variable: "SQUARE_APPLICATION_SECRET",
    prefix: "sq0csp-",
    alphabet: base64url,
    length: 43,
    near: (draw) => [`sq0idp-${draw.text(base64url, 22)}`],
  }),
  ...["shpat_", "shpca_", "shppa_", "shpss_"].map((prefix) =>
    token({ name: `Shopify ${prefix}`, variable: "SHOPIFY_ACCESS_TOKEN", prefix, alphabet: hex, length: 32 }),
  ),
  {
    name: "Plaid access token",
    variable: "PLAID_ACCESS_TOKEN",
    // The development environment was shut down in 2024; a token of the sandbox reaches no bank.
    make: (draw) => `access-production-${draw.uuid()}`,
    near: (draw) => [
      `access-control-${draw.uuid()}`,
      "access-production-00000000-0000-0000-0000-000000000000",
      "access-sandbox-...",
    ],
  },
  {
    name: "Paddle key",
    variable: "PADDLE_API_KEY",
    make: (draw) => `pdl_live_apikey_${draw.text(base36, 26)}_${draw.text(base62, 22)}_${draw.text(base62, 3)}`,
    near: () => ["pdl_live_apikey_...", `pdl_live_apikey_${"0".repeat(26)}_${"x".repeat(22)}_xxx`],
  },
  {
    name: "SendGrid key",
    variable: "SENDGRID_API_KEY",
    make: (draw) => `SG.${draw.text(base64url, 22)}.${draw.text(base64url, 43)}`,
    near: (draw) => [
      `SG.${draw.text(base64url, 22)}.${draw.text(base64url, 12)}`,
      `SG.${"x".repeat(22)}.${"x".repeat(43)}`,
      `SG.${words(draw, "", 22)}.${words(draw, "", 20)}`,
      "SG.your_api_key",
      ["SG", "ngeVfQFYQlKU0ufo8x5d1A", "TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr"].join("."),
      `MSG.${draw.text(lower, 22)}.${draw.text(lower, 43)}`,
    ],
  },
  {
    name: "Mailgun key",
    variable: "MAILGUN_API_KEY",
    named: true,
    make: (draw) => draw.pick([`key-${draw.text(hex, 32)}`, modernMailgun(draw)]),
    texts: (_, value) => [`curl -s --user 'api:${value}' https://api.mailgun.net/v3/mg.acme.io/messages\n`],
    near: () => ["key-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", `key-${"0".repeat(32)}`, "key-yourkeyhere"],
  },
  {
    name: "Brevo key",
    variable: "BREVO_API_KEY",
    make: (draw) => `xkeysib-${draw.text(hex, 64)}-${draw.text(base62, 16)}`,
    near: (draw) => ["xkeysib-...", `xkeysib-${draw.text(hex, 20)}`, `xkeysib-${"x".repeat(64)}-${"x".repeat(16)}`],
  },
  {
    name: "Mailchimp key",
    variable: "MAILCHIMP_API_KEY",
    make: (draw) => `${draw.text(hex, 32)}-us${draw.between(1, 21)}`,
    near: (draw) => [`${draw.text(hex, 20)}-us1`, `${"0".repeat(32)}-us1`, `${draw.text(hex, 40)}-us1`],
  },
  {
    // The id of a key is its user name; the secret beside it is shown once. Without its vendor's
    // name it is a hash.
    ...token({ name: "Twilio key", variable: "TWILIO_API_KEY", prefix: "SK", alphabet: hex, length: 32, named: true }),
    near: (draw) => [
      `AC${draw.text(hex, 32)}`,
      `SK${draw.text(hex, 20)}`,
      `SK${"x".repeat(32)}`,
      `TASK${draw.text(hex, 32)}`,
      `SK${draw.text(hex, 32).toUpperCase()}${draw.text(hex, 8)}`,
    ],
  },
  {
    name: "Twilio auth token",
    variable: "TWILIO_AUTH_TOKEN",
    named: true,
    make: (draw) => draw.text(hex, 32),
    near: (draw) => [draw.text(hex, 40), "0".repeat(32), "your_auth_token", draw.uuid()],
  },
  {
    name: "OpenAI older key",
    variable: "OPENAI_API_KEY",
    make: (draw) => openai(draw, "sk-", 20),
    near: (draw) => ["sk-...", `sk-${"x".repeat(48)}`, "sk-your-openai-key", `sk-${words(draw, "-", 48)}`],
  },
  {
    name: "OpenAI project key",
    variable: "OPENAI_API_KEY",
    make: (draw) => openai(draw, "sk-proj-", 74),
    near: () => ["sk-proj-...", `sk-proj-${"x".repeat(156)}`],
  },
  { name: "OpenAI service key", variable: "OPENAI_API_KEY", make: (draw) => openai(draw, "sk-svcacct-", 74) },
  { name: "OpenAI admin key", variable: "OPENAI_ADMIN_KEY", make: (draw) => openai(draw, "sk-admin-", 58) },
  {
    name: "Anthropic key",
    variable: "ANTHROPIC_API_KEY",
    make: (draw) => `sk-ant-api03-${draw.text(base64url, 93)}AA`,
    near: () => ["sk-ant-api03-...", `sk-ant-api03-${"x".repeat(93)}AA`, "sk-ant-your-key-here"],
  },
  {
    name: "Anthropic admin key",
    variable: "ANTHROPIC_ADMIN_KEY",
    make: (draw) => `sk-ant-admin01-${draw.text(base64url, 93)}AA`,
  },
  token({
    name: "Hugging Face token",
    variable: "HF_TOKEN",
    prefix: "hf_",
    alphabet: lower + upper,
    length: 34,
    near: (draw) => [
      `self_${draw.text(lower, 31)}`,
      `hf_${words(draw, "_", 34)}`,
      `hf_${words(draw, "", 34)}`,
      `shelf_${draw.text(lower + upper, 34)}`,
    ],
  }),
  token({ name: "Groq key", variable: "GROQ_API_KEY", prefix: "gsk_", alphabet: base62, length: 52 }),
  token({ name: "OpenRouter key", variable: "OPENROUTER_API_KEY", prefix: "sk-or-v1-", alphabet: hex, length: 64 }),
  token({ name: "xAI key", variable: "XAI_API_KEY", prefix: "xai-", alphabet: base62, length: 80 }),
  token({ name: "Replicate token", variable: "REPLICATE_API_TOKEN", prefix: "r8_", alphabet: base62, length: 37 }),
  token({ name: "Perplexity key", variable: "PERPLEXITY_API_KEY", prefix: "pplx-", alphabet: base62, length: 48 }),
  {
    name: "Grafana service account token",
    variable: "GRAFANA_TOKEN",
    make: (draw) => {
      const start = `glsa_${draw.text(base62, 32)}`;
      return `${start}_${crcLittleEndianHex(start)}`;
    },
    near: (draw) => [
      `glsa_${draw.text(base62, 32)}_${draw.text(hex, 8)}`,
      `glsa_${"x".repeat(32)}_${"0".repeat(8)}`,
      "glsa_...",
      `glsa_${draw.text(base62, 12)}`,
    ],
  },
  {
    name: "Grafana Cloud token",
    variable: "GRAFANA_CLOUD_API_KEY",
    make: (draw) =>
      `glc_${Buffer.from(JSON.stringify({ o: draw.text(digits, 6), n: "ci", k: draw.text(base62, 24), m: { r: "eu" } })).toString("base64")}`,
    core: (value) => value.replace(/=+$/, ""),
    near: () => ["glc_eyJvIjoi...", "glc_your_token"],
  },
  {
    name: "Sentry organization token",
    variable: "SENTRY_AUTH_TOKEN",
    make: (draw) => {
      const payload = {
        iat: 1_780_000_000 + draw.below(900_000) + 0.123456,
        url: "https://sentry.io",
        region_url: "https://us.sentry.io",
        org: `acme-${draw.text(lower, 5)}`,
      };
      const secret = draw.bytes(32).toString("base64").replace(/=+$/, "");
      return `sntrys_${Buffer.from(JSON.stringify(payload)).toString("base64")}_${secret}`;
    },
    texts: (_, value) => [`[auth]\ntoken=${value}\n\n[defaults]\norg=acme\n`],
    near: () => ["sntrys_...", "sntrys_YOUR_TOKEN_HERE", "sntrys_eyJpYXQiOjE2ODcz..."],
  },
  token({ name: "Sentry user token", variable: "SENTRY_AUTH_TOKEN", prefix: "sntryu_", alphabet: hex, length: 64 }),
  token({
    name: "New Relic key",
    variable: "NEW_RELIC_API_KEY",
    prefix: "NRAK-",
    alphabet: digits + upper,
    length: 27,
  }),
  {
    name: "Datadog API key",
    variable: "DD_API_KEY",
    named: true,
    make: (draw) => draw.text(hex, 32),
    near: (draw) => [
      "x".repeat(32),
      "0".repeat(32),
      draw.uuid(),
      words(draw, "_", 32),
      "<DATADOG_API_KEY>",
      ["9775a026f1ca7d1c", "6c5af9d94d9595a4"].join(""),
    ],
  },
  {
    name: "Datadog application key",
    variable: "DD_APPLICATION_KEY",
    named: true,
    make: (draw) => draw.text(hex, 40),
    near: (draw) => [
      "x".repeat(40),
      "0".repeat(40),
      words(draw, "_", 40),
      ["87ce4a24b5553d2e482e", "a8a8500e71b8ad4554ff"].join(""),
    ],
  },
  {
    name: "Dynatrace token",
    variable: "DT_API_TOKEN",
    make: (draw) => `dt0c01.${draw.text(`${upper}234567`, 24)}.${draw.text(`${upper}234567`, 64)}`,
    near: (draw) => [
      `dt0c01.${draw.text(`${upper}234567`, 24)}`,
      "dt0c01.***",
      `dt0c01.${"X".repeat(24)}.${"X".repeat(64)}`,
      "dt0c01.abc123",
    ],
  },
  {
    name: "Postman key",
    variable: "POSTMAN_API_KEY",
    make: (draw) => `PMAK-${draw.text(hex, 24)}-${draw.text(hex, 34)}`,
    near: (draw) => [`PMAK-${draw.text(hex, 24)}`, `PMAK-${"x".repeat(24)}-${"x".repeat(34)}`, "PMAK-your-key"],
  },
  token({ name: "Linear key", variable: "LINEAR_API_KEY", prefix: "lin_api_", alphabet: base62, length: 40 }),
  {
    name: "Notion token",
    variable: "NOTION_TOKEN",
    make: (draw) => `ntn_${draw.text(digits, 11)}${draw.text(base62, 35)}`,
    near: (draw) => ["ntn_...", `ntn_${"x".repeat(46)}`, `ntn_${draw.text(base62, 12)}`],
  },
  {
    name: "Notion older token",
    variable: "NOTION_TOKEN",
    named: true,
    make: (draw) => `secret_${draw.text(base62, 43)}`,
    near: () => ["secret_...", `secret_${"x".repeat(43)}`],
  },
  {
    name: "Figma token",
    variable: "FIGMA_TOKEN",
    make: (draw) => `figd_${draw.text(base64url, 40)}`,
    near: (draw) => ["figd_...", `figd_${"x".repeat(40)}`, `figd_${draw.text(base64url, 8)}`],
  },
  {
    name: "Atlassian API token",
    variable: "ATLASSIAN_API_TOKEN",
    make: (draw) => `ATATT3xFfGF0${draw.text(base64url, 171)}=${draw.text(`${digits}ABCDEF`, 8)}`,
    texts: (_, value) => [`curl -u ci@acme.io:${value} https://acme.atlassian.net/rest/api/3/myself\n`],
    near: () => ["ATATT3xFfGF0...", "ATATT3xFfGF0<your token>", `ATATT3xFfGF0${"x".repeat(171)}=00000000`],
  },
  {
    name: "Okta token",
    variable: "OKTA_API_TOKEN",
    named: true,
    make: (draw) => `00${draw.text(base64url, 40)}`,
    texts: (_, value) => [`curl -H "Authorization: SSWS ${value}" https://acme.okta.com/api/v1/users\n`],
    near: (draw) => [`00${draw.text(digits, 40)}`, "0".repeat(42), "00xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
  },
  {
    name: "JSON Web Token",
    variable: "ID_TOKEN",
    low: true,
    make: (draw) => {
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
      const claims = part({ sub: draw.text(digits, 10), iat: 1_780_000_000 + draw.below(999_999) });
      return `${part({ alg: "HS256", typ: "JWT" })}.${claims}.${draw.bytes(32).toString("base64url")}`;
    },
  },
  ...["postgresql", "mysql", "mongodb+srv", "redis", "amqp"].map((scheme): Kind => ({
    name: `database URL ${scheme}`,
    variable: "DATABASE_URL",
    make: (draw) => `${scheme}://app_${draw.text(lower, 4)}:${password(draw)}@db${draw.below(9)}.prod.acme.io/main`,
    core: (value) => /:([^:@]+)@/.exec(value)?.[1] ?? "",
    near: (draw) => [
      `${scheme}://user:password@localhost/main`,
      `${scheme}://user:p%40ss%3Aword@db.acme.io/main`,
      `${scheme}://\${DB_USER}:\${DB_PASSWORD}@db.acme.io/main`,
      `${scheme}://app@db.prod.acme.io/main`,
      `${scheme}://username:<password>@host/${draw.text(lower, 5)}`,
      `${scheme}://root:changeme@db/main`,
      `${scheme}://{{ user }}:{{ pass }}@db/main`,
      `${scheme}://%s:%s@%s/%s`,
      `${scheme}://user:****@db.acme.io/main`,
      `${scheme}://db.prod.acme.io:${draw.between(1024, 9999)}/main?email=a@b.io`,
    ],
  })),
  {
    name: "URL with a password",
    variable: "UPSTREAM_URL",
    make: (draw) => `https://deploy:${password(draw)}@artifacts.acme.io/simple`,
    core: (value) => /:([^:@/]+)@/.exec(value)?.[1] ?? "",
    near: (draw) => [
      "https://user:pass@example.com/",
      "https://username:password@proxy.example.com:8080",
      `https://github.com/acme/web/compare/v1.0...${draw.text(hex, 8)}`,
      "https://cdn.jsdelivr.net/npm/@babel/core@7.1.0/lib/index.js",
      `https://acme.io/@${draw.text(lower, 5)}:8080/x`,
      "https://:@acme.io/",
      "http://$USER:$PASS@proxy:3128",
      "ssh://git@github.com:22/acme/web.git",
    ],
  },
];

const password = (draw: Draw): string => draw.text(base62, draw.between(14, 24));

function modernMailgun(draw: Draw): string {
  return `${draw.text(hex, 32)}-${draw.text(hex, 8)}-${draw.text(hex, 8)}`;
}
