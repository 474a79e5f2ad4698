import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { EmailField } from "../../parts/email-field.tsx";
import { Field } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Mark } from "../../parts/mark.tsx";
import { Problem } from "../../parts/problem.tsx";
import { UnlockPasskey } from "../../parts/session/unlock-passkey.tsx";
import { call, state } from "../../store.ts";
import { typedEmail } from "../../typed-email.ts";
import { useAction } from "../../use-action.ts";
import { CallError } from "../../worker-client.ts";

const ended = { revoked: m.endedRevoked, attempts: m.endedAttempts };

/** Screen 1: e-mail and password, then a code where the account has a second factor. */
export function SignIn() {
  const email = typedEmail.value;
  const [password, setPassword] = useState("");
  const [code, setCode] = useState<string | null>(null);
  const { busy, slow, problem, waitSeconds, run } = useAction();
  const { endedBecause } = state.value;

  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const next = code === null ? await call("signIn", { email, password }) : await call("giveCode", code);
      if (next === "done") return;
      setCode("");
      if (code !== null) throw new CallError({ code: "otp_required", message: "", retryAfterSeconds: null });
    });
  };
  return (
    <main class="gate">
      <Mark />
      <h1>{code === null ? m.signIn : m.codeTitle}</h1>
      {endedBecause !== null && <p class="notice">{ended[endedBecause]}</p>}
      {state.value.passkeys.length > 0 && (
        <section aria-label={m.passkey}>
          <p class="hint">{m.passkeyHere}</p>
          <UnlockPasskey />
          <button type="button" class="wide" onClick={() => void call("removePasskeys")}>
            {m.passkeyForget}
          </button>
        </section>
      )}
      <form onSubmit={submit}>
        {code === null ? (
          <>
            <EmailField />
            <Field
              label={m.password}
              type="password"
              value={password}
              onInput={setPassword}
              autocomplete="current-password"
              required
            />
          </>
        ) : (
          <Field
            label={m.codeLabel}
            value={code}
            onInput={setCode}
            autocomplete="one-time-code"
            required
            focused
            mono
          />
        )}
        <Problem text={waitSeconds > 0 ? m.rateLimited(waitSeconds) : problem} />
        <button class="primary wide" disabled={busy || waitSeconds > 0}>
          {slow ? m.signingIn : code === null ? m.signIn : m.confirm}
        </button>
      </form>
      <p class="hint">{m.whatTheServiceLearns}</p>
      <p>
        <Link path="/recover" text={m.forgotten} />
      </p>
      <p>
        {m.noAccount} <Link path="/register" text={m.register} />
      </p>
    </main>
  );
}
