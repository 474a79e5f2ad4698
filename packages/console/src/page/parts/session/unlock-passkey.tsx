import { m } from "../../../messages/messages.ts";
import { askPasskey } from "../../passkey.ts";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { Problem } from "../problem.tsx";

/** Opens the session with a passkey of this browser, where there is one. */
export function UnlockPasskey() {
  const { passkeys } = state.value;
  const { busy, slow, problem, run } = useAction();
  if (passkeys.length === 0) return null;
  const unlock = (): void =>
    run(async () => {
      await call("unlockPasskey", await askPasskey(passkeys));
    });
  return (
    <>
      <button type="button" class="wide" disabled={busy} onClick={unlock}>
        {slow ? m.unlocking : m.passkeyUnlock}
      </button>
      <Problem text={problem} />
    </>
  );
}
