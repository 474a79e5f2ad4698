import { m } from "../../messages/messages.ts";
import type { Shared } from "../../protocol/sharing.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";
import { useLoad } from "../use-load.ts";

interface OfferProps {
  shared: Shared;
  onAccepted: () => void;
  onClose: () => void;
}

/** A folder or vault that another member shared: its name and sender come from the signed history. */
export function OfferDialog({ shared: { kind, id }, onAccepted, onClose }: OfferProps) {
  const { view: offer, problem: failure } = useLoad(() => call("offer", { kind, id }), [id]);
  const { busy, problem, run } = useAction();
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
      {offer?.isTaken === true && <p class="hint">{m.offerTaken}</p>}
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
