import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { Proof } from "../../../protocol/account.ts";
import { CallError } from "../../worker-client.ts";
import { Field } from "../field.tsx";

export interface GivenProof {
  password: string;
  code: string;
  needsCode: boolean;
  setPassword: (text: string) => void;
  setCode: (text: string) => void;
  /** Runs a call with the proof. Asks for a code when the account needs one. */
  prove: <T>(work: (proof: Proof) => Promise<T>) => Promise<T>;
}

/** The password, and a code where the account has a second factor. */
export function useProof(): GivenProof {
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [needsCode, setNeedsCode] = useState(false);
  const prove = async <T,>(work: (proof: Proof) => Promise<T>): Promise<T> => {
    try {
      return await work({ password, code: code.trim() });
    } catch (error) {
      if (error instanceof CallError && error.code === "code_needed") setNeedsCode(true);
      else if (error instanceof CallError && error.code === "otp_required") setCode("");
      else setPassword("");
      throw error;
    }
  };
  return { password, code, needsCode, setPassword, setCode, prove };
}

export function ProofFields({ given }: { given: GivenProof }) {
  const { password, code, needsCode, setPassword, setCode } = given;
  return (
    <>
      <Field
        label={m.password}
        type="password"
        value={password}
        onInput={setPassword}
        autocomplete="current-password"
        required
        focused
      />
      {needsCode && (
        <Field label={m.codeLabel} value={code} onInput={setCode} autocomplete="one-time-code" required focused mono />
      )}
    </>
  );
}
