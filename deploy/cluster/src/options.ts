import { resolve } from "node:path";
import { parseArgs } from "node:util";

export const usage = `npm run cluster -- [options]

Runs several replicas of each service as processes behind nginx, with the commands, settings and routes that charts/coffer
renders, and the stores of npm start. It serves until Ctrl-C. Linux only.

  --port N        the port of nginx on 127.0.0.1 (8081; 0: a free one)
  --replicas N    replicas of each service (3)
  --values FILE   values of the chart, such as limits; may be given more than once
  --data DIR      where data and logs are kept; without it in a temporary folder that is removed at the end
`;

export interface Options {
  port: number;
  replicas: number;
  values: string[];
  data: string | null;
}

/** The parsed command line; null for help. Throws TypeError for a wrong option. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: "8081" },
      replicas: { type: "string", default: "3" },
      values: { type: "string", multiple: true, default: [] },
      data: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  return {
    port: whole("--port", values.port, 0, 65_535),
    replicas: whole("--replicas", values.replicas, 1, 50),
    values: values.values.map((file) => resolve(file)),
    data: values.data === undefined ? null : resolve(values.data),
  };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new TypeError(`${name} is a number from ${least} to ${most}, not ${text}`);
}
