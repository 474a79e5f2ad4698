import type { CofferError } from "@coffer/sdk";
import { usage } from "../failure.ts";
import { readCode } from "../input/inputs.ts";
import { hasTerminal, promptHidden } from "../input/terminal.ts";

export interface OtpOptions {
  otp?: string;
  otpFile?: string;
}

/** The SDK's callback for a code; without a refusal before the first request. */
type Prompt = (again: boolean, refusal?: CofferError) => Promise<string>;

/**
 * Returns the code of `--otp` or `--otp-file` once, and then prompts at the terminal. Without a
 * terminal, throws the service's refusal of the given code. Throws Failure (usage) for a recovery
 * code in `--otp`: it is valid until used, and a list of the machine's processes shows it.
 */
export function promptOtp({ otp, otpFile }: OtpOptions): Prompt {
  if (otp !== undefined && otpFile !== undefined) throw usage("take --otp or --otp-file");
  if (otp !== undefined && !/^\d{6}$/.test(otp))
    throw usage("--otp takes the six digits of an authenticator; a recovery code: at the terminal, or by --otp-file");
  let used = false;
  return async (again, refusal) => {
    const code = used ? undefined : (otp ?? (otpFile === undefined ? undefined : await readCode(otpFile)));
    used = true;
    if (code !== undefined) return code;
    if (again && refusal !== undefined && !hasTerminal()) throw refusal;
    const question = again ? "That code was wrong or used before. Another" : "Code of the second factor";
    return (promptHidden([question], "give the code with --otp, or --otp-file")[0] ?? "").trim();
  };
}
