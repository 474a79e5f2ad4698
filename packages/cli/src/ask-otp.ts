import type { CofferError } from "@coffer/sdk";
import { usage } from "./failure.ts";
import { readCode } from "./inputs.ts";
import { askHidden, hasTerminal } from "./terminal.ts";

export interface OtpOptions {
  otp?: string;
  otpFile?: string;
}

/** As the SDK asks for a code, or without a refusal before the service was asked at all. */
type Ask = (again: boolean, refusal?: CofferError) => Promise<string>;

/**
 * The code of `--otp` or `--otp-file` once, else asked for at the terminal. Where there is no terminal to ask for another
 * one than was given, what the service said of that one is thrown. Throws Failure (usage) for a recovery code
 * by `--otp`: it stays good for as long as it is not used, and whoever lists the machine's processes reads it there.
 */
export function askOtp({ otp, otpFile }: OtpOptions): Ask {
  if (otp !== undefined && otpFile !== undefined) throw usage("take --otp or --otp-file");
  if (otp !== undefined && !/^\d{6}$/.test(otp))
    throw usage("--otp takes the six digits of an authenticator; a recovery code: at the terminal, or by --otp-file");
  let asked = false;
  return async (again, refusal) => {
    const code = asked ? undefined : (otp ?? (otpFile === undefined ? undefined : await readCode(otpFile)));
    asked = true;
    if (code !== undefined) return code;
    if (again && refusal !== undefined && !hasTerminal()) throw refusal;
    const question = again ? "That code was wrong or used before. Another" : "Code of the second factor";
    return (askHidden([question], "give the code with --otp, or --otp-file")[0] ?? "").trim();
  };
}
