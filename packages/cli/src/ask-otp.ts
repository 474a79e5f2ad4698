import type { AskOtp } from "@coffer/sdk/account";
import { askHidden } from "./terminal.ts";

export interface OtpOptions {
  otp?: string;
}

/** The code of `--otp` once, else asked for at the terminal. */
export function askOtp({ otp }: OtpOptions): AskOtp {
  let given = otp;
  return (again) => {
    const code = given;
    given = undefined;
    if (code !== undefined) return Promise.resolve(code);
    const question = again ? "That code was wrong or used before. Another" : "Code of the second factor";
    return Promise.resolve((askHidden([question], "give the code with --otp")[0] ?? "").trim());
  };
}
