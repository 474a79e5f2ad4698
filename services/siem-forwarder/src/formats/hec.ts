import type { HecCredentials } from "../credentials/credentials.ts";
import type { Answer } from "../outgoing/channel.ts";
import type { FormatTarget, Outcome, SiemFormatter } from "./format.ts";
import { answered, batchLimits, failedAnswer, objectIn, withPath } from "./format.ts";

const path = "/services/collector/event";

/**
 * Codes of the collector that are about the token or its settings, which are the same for every
 * batch: 1–4 the token, 7 the index, 10 and 11 the channel of acknowledgements.
 */
const endpointCodes: ReadonlySet<number> = new Set([1, 2, 3, 4, 7, 10, 11]);
/** Codes that need a retry: 8 internal error, 9 busy, 18–20 queues and acknowledgements are full. */
const retryCodes: ReadonlySet<number> = new Set([8, 9, 18, 19, 20]);

const metadata = new WeakMap<FormatTarget<HecCredentials>, string>();

/** Splunk's HTTP Event Collector. */
export const hec: SiemFormatter<HecCredentials> = {
  ...batchLimits,
  frame: { open: "", separator: "\n", close: "" },
  encode({ seconds, text }, target) {
    // The collector takes milliseconds.
    return `{"time":${seconds.slice(0, -3)},${metadataOf(target)},"event":${text}}`;
  },
  async send(channel, { url, credentials: { token }, now }, body) {
    const answer = await channel.post({
      url: withPath(url, path),
      headers: { authorization: `Splunk ${token}`, "content-type": "application/json" },
      body,
    });
    return outcomeOf(answer, now());
  },
};

/**
 * The members that are the same for all events of a target: encoding them again would cost as much
 * as the rest.
 */
function metadataOf(target: FormatTarget<HecCredentials>): string {
  const known = metadata.get(target);
  if (known !== undefined) return known;
  const { credentials, hostName } = target;
  const { index, sourcetype = "coffer:audit" } = credentials;
  const members = { host: hostName, source: "coffer", sourcetype, ...(index === undefined ? {} : { index }) };
  const encoded = JSON.stringify(members).slice(1, -1);
  metadata.set(target, encoded);
  return encoded;
}

function outcomeOf(answer: Answer, now: Date): Outcome {
  const { status } = answer;
  const given = objectIn(answer)?.["code"];
  const code = Number.isSafeInteger(given) ? (given as number) : undefined; // checked by isSafeInteger
  const detail = code === undefined ? "" : ` with the code ${code}`;
  if (status === 200 && code === 0) return { kind: "taken", status, rejected: [] };
  if (code !== undefined && endpointCodes.has(code))
    return failedAnswer(answer, now, `${detail}: check the token and its settings`);
  if (code !== undefined && retryCodes.has(code)) return failedAnswer(answer, now, detail);
  if (status === 400 || status === 413) return { kind: "refused", status, error: `${answered(status)}${detail}` };
  return failedAnswer(answer, now, detail);
}
