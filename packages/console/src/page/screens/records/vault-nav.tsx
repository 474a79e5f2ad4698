import { m } from "../../../messages/messages.ts";
import type { VaultSummary } from "../../../protocol/session.ts";
import { Icon } from "../../parts/icon.tsx";
import { Refused } from "../../parts/refused.tsx";
import { go } from "../../router.ts";
import { records, shownVault, state } from "../../store.ts";

interface NavProps {
  onNewVault: () => void;
  onOffer: (vaultId: string) => void;
}

/** The vaults: a list beside the records, and a choice above them on a narrow screen. */
export function VaultNav({ onNewVault, onOffer }: NavProps) {
  const { vaults } = state.value;
  const sorted = vaults.toSorted((a, b) => a.name.localeCompare(b.name));
  const show = (id: string | null): void => {
    shownVault.value = id;
    go({ openId: null });
  };
  return (
    <nav aria-label={m.vaults}>
      <select
        aria-label={m.vault}
        value={shownVault.value ?? ""}
        onChange={({ currentTarget: { value } }) => show(value === "" ? null : value)}
      >
        <option value="">{m.allRecords}</option>
        {sorted
          .filter(({ problem }) => problem === null)
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </select>
      <ul>
        <li>
          <button aria-current={shownVault.value === null} onClick={() => show(null)}>
            <span>{m.allRecords}</span>
            <span class="count">{records.value.size}</span>
          </button>
        </li>
        {sorted.map((vault) => (
          <li key={vault.id}>
            <VaultRow vault={vault} onShow={() => show(vault.id)} onOffer={() => onOffer(vault.id)} />
          </li>
        ))}
      </ul>
      <button class="new-vault" onClick={onNewVault}>
        <Icon name="plus" />
        {m.newVault}
      </button>
      <button class="new-vault" onClick={() => go({ path: "/import" })}>
        <Icon name="into" />
        {m.importTitle}
      </button>
    </nav>
  );
}

function VaultRow({ vault, onShow, onOffer }: { vault: VaultSummary; onShow: () => void; onOffer: () => void }) {
  const { id, name, problem } = vault;
  if (problem === "not_accepted")
    return (
      <div class="offer">
        <span>{name}</span>
        <span class="hint">{m.notAccepted}</span>
        <button onClick={onOffer}>{m.review}</button>
      </div>
    );
  if (problem !== null)
    return (
      <div class="offer">
        <span>{name}</span>
        <Refused text={m.vaultProblem(problem)} code={problem} />
      </div>
    );
  const count = [...records.value.values()].filter(({ vaultId }) => vaultId === id).length;
  return (
    <button aria-current={shownVault.value === id} onClick={onShow}>
      <span>{name}</span>
      <span class="count">{count}</span>
    </button>
  );
}
