import type { Rule } from "../rule.ts";
import { base62, base64Url, lowerHex, tokenRule } from "./shape.ts";

const openai = "https://platform.openai.com/docs/api-reference/authentication";
const openaiRevoke = "https://platform.openai.com/api-keys";
const anthropic = "https://platform.claude.com/docs/en/api/overview";

export const aiRules: readonly Rule[] = [
  tokenRule({
    id: "openai-api-key",
    kind: "AI service API key",
    description: "OpenAI API key",
    reference: openai,
    revoke: openaiRevoke,
    shape: ["sk-", base62(20), "T3BlbkFJ", base62(20)],
    keywords: ["T3BlbkFJ"],
    shown: /^sk-/,
    minEntropy: 4,
  }),
  ...(["proj", "svcacct", "admin", "None"] as const).map((scope) =>
    tokenRule({
      id: `openai-${scope.toLowerCase()}-key`,
      kind: "AI service API key",
      description: `OpenAI API key with the scope ${scope}`,
      reference: openai,
      revoke: openaiRevoke,
      shape: [`sk-${scope}-`, base64Url(20, 90), "T3BlbkFJ", base64Url(20, 90)],
      minEntropy: 4,
    }),
  ),
  tokenRule({
    id: "anthropic-api-key",
    kind: "AI service API key",
    description: "Anthropic API key",
    reference: anthropic,
    revoke: "https://platform.claude.com/settings/keys",
    shape: ["sk-ant-api03-", base64Url(93), "AA"],
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "anthropic-admin-key",
    kind: "AI service admin key",
    description: "Anthropic admin API key",
    reference: anthropic,
    revoke: "https://platform.claude.com/settings/admin-keys",
    shape: ["sk-ant-admin01-", base64Url(93), "AA"],
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "anthropic-oauth-token",
    kind: "AI service session token",
    description: "Anthropic OAuth token",
    reference: anthropic,
    shape: ["sk-ant-oat01-", base64Url(86, 95)],
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "hugging-face-token",
    kind: "AI service access token",
    description: "Hugging Face access token",
    reference: "https://huggingface.co/docs/hub/security-tokens",
    revoke: "https://huggingface.co/settings/tokens",
    shape: ["hf_", base62(34)],
    minEntropy: 3.6,
  }),
  tokenRule({
    id: "groq-api-key",
    kind: "AI service API key",
    description: "Groq API key",
    reference: "https://console.groq.com/docs/quickstart",
    revoke: "https://console.groq.com/keys",
    shape: ["gsk_", base62(52)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "openrouter-api-key",
    kind: "AI service API key",
    description: "OpenRouter API key",
    reference: "https://openrouter.ai/docs/api-reference/authentication",
    revoke: "https://openrouter.ai/settings/keys",
    shape: ["sk-or-v1-", lowerHex(64)],
  }),
  tokenRule({
    id: "xai-api-key",
    kind: "AI service API key",
    description: "xAI API key",
    reference: "https://docs.x.ai/docs/overview",
    revoke: "https://console.x.ai",
    shape: ["xai-", base62(80)],
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "replicate-token",
    kind: "AI service access token",
    description: "Replicate API token",
    reference: "https://replicate.com/docs/topics/security/api-tokens",
    shape: ["r8_", base62(37)],
    minEntropy: 3.7,
  }),
  tokenRule({
    id: "perplexity-api-key",
    kind: "AI service API key",
    description: "Perplexity API key",
    reference: "https://docs.perplexity.ai/getting-started/quickstart",
    shape: ["pplx-", base62(48)],
    minEntropy: 3.9,
  }),
];
