import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { PasskeyView } from "../../../protocol/session.ts";
import { momentOf } from "../../dates.ts";
import { discardPasskey, makePasskey } from "../../passkey.ts";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { Field } from "../field.tsx";
import { Problem } from "../problem.tsx";
import { toast } from "../toast.tsx";

/** The passkey that opens the session in this browser. */
export function PasskeySection() {
  const [asking, setAsking] = useState(false);
  const [passkey] = state.value.passkeys;
  return (
    <section aria-label={m.passkey}>
      <h2>{m.passkey}</h2>
      <p class="hint">{m.passkeyWhy}</p>
      {passkey !== undefined && <Added passkey={passkey} />}
      {passkey === undefined && asking && <AddPasskey onDone={() => setAsking(false)} />}
      {passkey === undefined && !asking && (
        <p class="buttons">
          <button onClick={() => setAsking(true)}>{m.passkeyAdd}</button>
        </p>
      )}
    </section>
  );
}

function Added({ passkey: { id, name, addedAt } }: { passkey: PasskeyView }) {
  const { busy, problem, run } = useAction();
  const remove = (): void =>
    run(async () => {
      await call("removePasskeys");
      discardPasskey(id);
      toast(m.passkeyRemoved);
    });
  return (
    <>
      <p role="status">{m.passkeyAdded(name, momentOf(addedAt))}</p>
      <Problem text={problem} />
      <p class="buttons">
        <button disabled={busy} onClick={remove}>
          {m.passkeyRemove}
        </button>
      </p>
    </>
  );
}

function AddPasskey({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      try {
        const { salt } = await call("startPasskey", password);
        const answer = await makePasskey(salt, state.value.user?.email ?? "");
        await call("addPasskey", { ...answer, name }).catch((error: unknown) => {
          discardPasskey(answer.id);
          throw error;
        });
      } finally {
        setPassword("");
      }
      onDone();
    });
  };
  return (
    <form onSubmit={submit}>
      <Field label={m.passkeyName} value={name} onInput={setName} required focused />
      <Field
        label={m.password}
        type="password"
        value={password}
        onInput={setPassword}
        autocomplete="current-password"
        required
      />
      <Problem text={problem} />
      <p class="buttons">
        <button class="primary" disabled={busy}>
          {m.passkeyAdd}
        </button>
        <button type="button" onClick={onDone}>
          {m.cancel}
        </button>
      </p>
    </form>
  );
}
