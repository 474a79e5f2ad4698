import { m } from "../../../messages/messages.ts";
import { copy } from "../../copy.ts";

/** A recovery key as a sheet to print. */
export function RecoveryKey({ email, recoveryKey }: { email: string; recoveryKey: string }) {
  return (
    <>
      <p>{m.recoveryWhy}</p>
      <section class="sheet" aria-label={m.recoveryTitle}>
        <p>{m.recoveryFor(email)}</p>
        <p class="mono recovery">{recoveryKey}</p>
        <p class="hint">
          {location.origin}
          <br />
          {m.recoveryUse}
        </p>
      </section>
      <p class="buttons">
        <button type="button" onClick={() => print()}>
          {m.print}
        </button>
        <button type="button" onClick={() => void copy(m.recoveryTitle, () => Promise.resolve(recoveryKey))}>
          {m.copy}
        </button>
      </p>
    </>
  );
}
