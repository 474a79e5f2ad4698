import { m } from "../../messages/messages.ts";
import { Link } from "./link.tsx";

/** The problems that end when the person compares words and trusts the history as the service shows it. */
export const curable: readonly string[] = [
  "history_rolled_back",
  "history_forked",
  "keyring_missing",
  "keyring_rolled_back",
];

/** A folder or vault that this browser does not open, and where that can be mended. */
export function Refused({ text, code }: { text: string; code: string }) {
  return (
    <p class="problem">
      {Object.hasOwn(m.refused, code) ? m.refused[code as keyof typeof m.refused] : text}{" "}
      {curable.includes(code) && <Link path="/trust" text={m.trustTitle} />}
    </p>
  );
}
