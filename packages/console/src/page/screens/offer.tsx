import { useEffect, useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { OfferView } from "../../protocol.ts";
import { explain } from "../explain.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { call, shownVault } from "../store.ts";
import { useAction } from "../use-action.ts";

/** A vault that another member shared: its name and sender come from the signed history. */
export function OfferDialog({ vaultId, onClose }: { vaultId: string; onClose: () => void }) {
  const [offer, setOffer] = useState<OfferView | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const { busy, problem, run } = useAction();
  useEffect(() => {
    call("offer", vaultId).then(setOffer, (error: unknown) => setFailure(explain(error)));
  }, [vaultId]);
  const accept = (): void =>
    run(async () => {
      await call("acceptOffer", vaultId);
      shownVault.value = vaultId;
      onClose();
    });
  return (
    <Dialog title={m.offerTitle} onClose={onClose}>
      {offer !== null && <p>{m.offerText(offer.name, offer.from)}</p>}
      {offer?.organization != null && <p class="hint">{m.offerIn(offer.organization)}</p>}
      <Problem text={failure ?? problem} />
      <p class="buttons">
        <button class="primary" disabled={busy || offer === null} onClick={accept}>
          {m.accept}
        </button>
        <button onClick={onClose}>{m.cancel}</button>
      </p>
    </Dialog>
  );
}
