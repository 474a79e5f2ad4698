import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { LogsIntakeCredentials } from "../credentials/credentials.ts";
import type { SiemFormatter } from "./format.ts";
import { answered, arrayFrame, batchLimits, failedAnswer, withPath } from "./format.ts";
import { sentenceOf } from "./sentence.ts";

const compress = promisify(gzip);

/** Datadog's logs intake. */
export const logsIntake: SiemFormatter<LogsIntakeCredentials> = {
  ...batchLimits,
  frame: arrayFrame,
  encode({ parse, text }, { credentials: { service = "coffer", tags = "" }, hostName }) {
    const record = parse();
    const entry = {
      ddsource: "coffer",
      service,
      hostname: hostName,
      ddtags: tags,
      message: sentenceOf(record),
      timestamp: record.time,
    };
    return `${JSON.stringify(entry).slice(0, -1)},"coffer":${text}}`;
  },
  async send(channel, { url, credentials: { api_key: key }, now }, body) {
    const answer = await channel.post({
      url: withPath(url, "/api/v2/logs"),
      headers: { "dd-api-key": key, "content-type": "application/json", "content-encoding": "gzip" },
      body: await compress(body),
    });
    const { status } = answer;
    if (status === 202) return { kind: "taken", status, rejected: [] };
    if (status === 400 || status === 413) return { kind: "refused", status, error: answered(status) };
    return failedAnswer(answer, now());
  },
};
