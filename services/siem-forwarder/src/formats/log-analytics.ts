import type { LogAnalyticsCredentials } from "../credentials/credentials.ts";
import type { Channel } from "../outgoing/channel.ts";
import type { FormatTarget, Outcome, SiemFormatter } from "./format.ts";
import { answered, arrayFrame, batchLimits, failedAnswer, objectIn, withPath } from "./format.ts";

const defaultLoginUrl = "https://login.microsoftonline.com";
const scope = "https://monitor.azure.com/.default";
const apiVersion = "2023-01-01";
/** A token is replaced so long before it expires. */
const renewedMilliseconds = 5 * 60 * 1_000;

interface Token {
  /** The credentials that it was made for. */
  of: string;
  value: string;
  until: number;
}

/** The tokens of login services, as long as the channel of their endpoint. */
const tokens = new WeakMap<Channel, Token>();

/** The Logs Ingestion API of Azure Monitor. */
export const logAnalytics: SiemFormatter<LogAnalyticsCredentials> = {
  ...batchLimits,
  frame: arrayFrame,
  encode({ parse, text }) {
    const { time, id, action, outcome, actor, target, source } = parse();
    const row = {
      TimeGenerated: time,
      Id: id,
      Action: action,
      Outcome: outcome,
      ActorType: actor.type,
      ActorId: actor.id,
      TargetType: target.type,
      TargetId: target.id,
      SourceIp: source.ip,
    };
    return `${JSON.stringify(row).slice(0, -1)},"Record":${text}}`;
  },
  async send(channel, target, body) {
    const { url, credentials, now } = target;
    const token = await tokenFor(channel, target);
    if (typeof token !== "string") return token;
    const path = `/dataCollectionRules/${credentials.dcr_id}/streams/${credentials.stream}`;
    const answer = await channel.post({
      url: `${withPath(url, path)}?api-version=${apiVersion}`,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
    });
    const { status } = answer;
    if (status === 204) return { kind: "taken", status, rejected: [] };
    // It may have been revoked: the next attempt begins with a new one.
    if (status === 401) tokens.delete(channel);
    if (status === 400 || status === 413) return { kind: "refused", status, error: answered(status) };
    return failedAnswer(answer, now());
  },
};

/** The token of an endpoint, or why there is none. */
async function tokenFor(
  channel: Channel,
  { credentials, now }: FormatTarget<LogAnalyticsCredentials>,
): Promise<string | Outcome> {
  const { tenant_id, client_id, client_secret, login_url = defaultLoginUrl } = credentials;
  const of = JSON.stringify([login_url, tenant_id, client_id, client_secret]);
  const present = tokens.get(channel);
  if (present?.of === of && present.until > now().getTime()) return present.value;
  const answer = await channel.post({
    url: withPath(login_url, `/${tenant_id}/oauth2/v2.0/token`),
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret, scope }).toString(),
  });
  const { access_token: value, expires_in: seconds } = objectIn(answer) ?? {};
  const isToken = typeof value === "string" && /^[\x21-\x7e]{1,16384}$/.test(value);
  if (answer.status !== 200 || !isToken) {
    const failed = failedAnswer(answer, now());
    return { ...failed, error: `the login service answered ${answer.status}: check the credentials` };
  }
  // The older endpoints of Microsoft's login write the number as a string.
  const life = Math.max(0, Number(seconds) || 0) * 1_000;
  tokens.set(channel, { of, value, until: now().getTime() + life - Math.min(renewedMilliseconds, life / 2) });
  return value;
}
