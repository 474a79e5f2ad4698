import type { Decoded } from "./decoded.ts";
import type { Run } from "./runs.ts";

const [least, most] = [22, 400];
/** How far to the left of a value its name is looked for. */
const reach = 96;
const name = /(?:^|[\s"'{,])([A-Za-z][\w.-]{2,63})["']?[ \t]{0,4}[:=][ \t]{0,4}["']?$/;

/**
 * A value in base64 with the name before it, as a Kubernetes Secret has it: `AWS_SECRET_ACCESS_KEY:
 * d0phb…`. Some secrets are known by their name alone, which is lost when only the value is
 * decoded. Undefined for all other runs.
 */
export function namedValue(source: Buffer, { text, offsetOf }: Run): Decoded | undefined {
  if (text.length < least || text.length > most) return undefined;
  const start = offsetOf(0);
  const found = name.exec(source.toString("latin1", Math.max(0, start - reach), start))?.[1];
  if (found === undefined) return undefined;
  const value = Buffer.from(text, "base64").toString("latin1");
  if (!/^[!-~]+$/.test(value)) return undefined;
  const bytes = Buffer.from(`${found}=${value}`, "latin1");
  const before = found.length + 1;
  return {
    bytes,
    locate: (offset) => {
      if (offset <= before) return start;
      const sign = Math.floor(((offset - before) * 4) / 3);
      return offset === bytes.length || sign >= text.length ? offsetOf(text.length - 1) + 1 : offsetOf(sign);
    },
    // The name is no secret.
    openStart: true,
    openEnd: false,
  };
}
