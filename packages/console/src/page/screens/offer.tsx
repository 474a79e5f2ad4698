import { useEffect, useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { OfferView, Shared } from "../../protocol.ts";
import { explain } from "../explain.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";

interface OfferProps {
  shared: Shared;
  onAccepted: () => void;
  onClose: () => void;
}

/** A folder or vault that another member shared: its name and sender come from the signed history. */
export function OfferDialog({ shared: { kind, id }, onAccepted, onClose }: OfferProps) {
  const [offer, setOffer] = useState<OfferView | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const { busy, problem, run } = useAction();
  useEffect(() => {
    call("offer", { kind, id }).then(setOffer, (error: unknown) => setFailure(explain(error)));
  }, [id]);
  const accept = (): void =>
    run(async () => {
      await call("acceptOffer", { kind, id, name: offer?.name ?? "" });
      onAccepted();
      onClose();
    });
  return (
    <Dialog title={m.offerTitle[kind]} onClose={onClose}>
      {offer !== null && <p>{m.offerText[kind](offer.name, offer.from)}</p>}
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
