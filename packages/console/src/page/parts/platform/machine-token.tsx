import { m } from "../../../messages/messages.ts";
import type { MachineToken } from "../../../protocol/machines.ts";
import { notationOf } from "../../../notation.ts";
import { copy } from "../../copy.ts";
import { momentOf } from "../../dates.ts";
import { call } from "../../store.ts";
import { useFocus } from "../../use-focus.ts";
import { useLoad } from "../../use-load.ts";

/** A token, and the name of a folder that it gives. */
export interface MadeToken extends MachineToken {
  folder: string;
}

interface TokenProps {
  made: MadeToken;
  onClose: () => void;
}

/** A one-time token, shown once, with what to do on the machine. */
export function MachineTokenSheet({ made: { token, expiresAt, folder }, onClose }: TokenProps) {
  const sheet = useFocus<HTMLElement>({ fromFields: true });
  const { view } = useLoad(() => call("folders"));
  const given = view?.folders.find(({ name }) => name === folder);
  const secret = view?.secrets.find(({ folderId, fields }) => folderId === given?.id && fields.length > 0);
  const notation = notationOf(folder, secret?.title ?? "<title>", secret?.fields[0] ?? "<field>");
  return (
    <section ref={sheet} tabIndex={-1} class="sheet" aria-label={m.oneTimeToken}>
      <h3>{m.oneTimeToken}</h3>
      <p>{m.tokenOnce(momentOf(expiresAt))}</p>
      <p class="mono recovery">{token}</p>
      <p>{m.tokenThen}</p>
      <pre>
        {`coffer bootstrap --url ${location.origin} --config machine.json\n`}
        {`coffer read --config machine.json '${notation}'\n`}
        {`PASSWORD='${notation}' coffer run --config machine.json -- ./server`}
      </pre>
      <p class="buttons">
        <button onClick={() => void copy(m.oneTimeToken, () => Promise.resolve(token))}>{m.copy}</button>
        <button class="primary" onClick={onClose}>
          {m.tokenKept}
        </button>
      </p>
    </section>
  );
}
