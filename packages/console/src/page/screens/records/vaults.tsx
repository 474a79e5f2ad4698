import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { importCommand } from "../../../commands.ts";
import { m } from "../../../messages/messages.ts";
import { Empty } from "../../parts/empty.tsx";
import { Header } from "../../parts/header.tsx";
import { SettingsDialog } from "../../parts/settings-dialog.tsx";
import { go, place } from "../../router.ts";
import { call, found, records, search, shownVault, state, wanted } from "../../store.ts";
import { copyOf } from "../../copy-record.ts";
import { HelpDialog } from "../help.tsx";
import { NewRecord } from "./new-record.tsx";
import { NewVault } from "./new-vault.tsx";
import { OfferDialog } from "../offer.tsx";
import { RecordList } from "./record-list.tsx";
import { RecordScreen } from "./record.tsx";
import { SharingDialog } from "./sharing.tsx";
import { VaultNav } from "./vault-nav.tsx";

type Open = "none" | "help" | "new-vault" | "new-record" | "sharing" | "settings" | { offer: string };

/** Screens 4 and 5: the vaults, the search, and one record beside the list. */
export function Vaults() {
  const [open, setOpen] = useState<Open>("none");
  const [editing, setEditing] = useState(false);
  const [selected, setSelected] = useState(0);
  const searchBox = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const detail = useRef<HTMLElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const { openId: recordId } = place.value;
  const record = recordId === null ? undefined : records.value.get(recordId);
  const writable = state.value.vaults.filter(({ permission, problem }) => permission !== "read" && problem === null);
  const shown = found.value;
  const vault = state.value.vaults.find(({ id }) => id === shownVault.value);
  const isShared = vault?.type === "shared" && vault.problem === null;
  const at = Math.min(selected, Math.max(shown.length - 1, 0));
  const close = (): void => setOpen("none");

  useEffect(() => {
    if (wanted.value !== null) setOpen(wanted.value);
    wanted.value = null;
  }, [wanted.value]);
  useEffect(() => setSelected(0), [search.value, shownVault.value]);
  // Before the record is seen: a key that is pressed at once counts.
  useLayoutEffect(() => setEditing(false), [recordId]);
  // What had the focus is gone, as a form that was saved: the record has it, or the list.
  useEffect(() => {
    if (document.activeElement !== document.body) return;
    const places = [detail.current?.querySelector("h2"), list.current, title.current];
    for (const each of places) if (document.activeElement === document.body) each?.focus();
  }, [open, editing, record?.id]);

  const select = (next: number): void => {
    setSelected(Math.max(0, Math.min(next, shown.length - 1)));
    list.current?.focus();
  };
  const keys = (event: KeyboardEvent): void => {
    const { key } = event;
    const inDialog = document.querySelector("dialog") !== null;
    if (inDialog || editing || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    const current = record ?? shown[at];
    const single: Record<string, (() => void) | undefined> = {
      "/": () => searchBox.current?.focus(),
      "?": () => setOpen("help"),
      l: () => void call("lock"),
      n: writable.length > 0 ? () => setOpen("new-record") : undefined,
      c: current && (() => void copyOf("password", current)),
      u: current && (() => void copyOf("username", current)),
      t: current && (() => void copyOf("code", current)),
      e: record && (() => setEditing(true)),
    };
    const always: Record<string, (() => void) | undefined> = {
      ArrowDown: () => select(document.activeElement === searchBox.current ? at : at + 1),
      ArrowUp: () => (at === 0 ? searchBox.current?.focus() : select(at - 1)),
      Escape: () => {
        if (recordId !== null) go({ openId: null });
        else search.value = "";
        searchBox.current?.focus();
      },
    };
    const enter = key === "Enter" && (event.target === searchBox.current || event.target === list.current);
    const act = enter
      ? () => shown[at] && go({ openId: shown[at].id })
      : (always[key] ??
        (typing || !state.value.settings.singleKeys ? undefined : single[key.length === 1 ? key.toLowerCase() : key]));
    if (act === undefined || (event.target instanceof HTMLSelectElement && key !== "Escape")) return;
    event.preventDefault();
    act();
  };

  const newestKeys = useRef(keys);
  newestKeys.current = keys;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => newestKeys.current(event);
    document.addEventListener("keydown", listen);
    // On a touch screen it would open the keyboard.
    if (matchMedia("(hover: hover)").matches) searchBox.current?.focus();
    return () => document.removeEventListener("keydown", listen);
  }, []);

  return (
    <div class={record === undefined ? "shell" : "shell with-record"}>
      <Header onHelp={() => setOpen("help")} />
      <VaultNav onNewVault={() => setOpen("new-vault")} onOffer={(offer) => setOpen({ offer })} />
      <main>
        <h1 ref={title} class="unseen" tabIndex={-1}>
          {shownName()}
        </h1>
        <section class="browse" aria-label={shownName()}>
          <div class="search-row">
            <input
              ref={searchBox}
              type="search"
              aria-label={m.search}
              placeholder={m.searchHint}
              value={search.value}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => (search.value = event.currentTarget.value)}
            />
            {writable.length > 0 && (
              <button class="primary" onClick={() => setOpen("new-record")}>
                {m.newRecord}
              </button>
            )}
            {isShared && <button onClick={() => setOpen("sharing")}>{m.share}</button>}
            {vault?.permission === "manage" && vault.problem === null && (
              <button onClick={() => setOpen("settings")}>{m.settings}</button>
            )}
          </div>
          <ListOrHint
            onNewVault={() => setOpen("new-vault")}
            onNewRecord={writable.length > 0 ? () => setOpen("new-record") : undefined}
          >
            <RecordList
              listRef={list}
              records={shown}
              at={at}
              openId={recordId}
              onOpen={(id, index) => {
                setSelected(index);
                go({ openId: id });
              }}
            />
          </ListOrHint>
        </section>
        <section ref={detail} class="detail" aria-label={record?.name ?? m.chooseRecord}>
          {record === undefined && shown.length > 0 && <Empty title={m.chooseRecord} text={m.chooseRecordHint} />}
          {record !== undefined && (
            <RecordScreen key={record.id} record={record} editing={editing} setEditing={setEditing} />
          )}
        </section>
      </main>
      {open === "help" && <HelpDialog onClose={close} />}
      {open === "new-vault" && <NewVault onClose={close} />}
      {open === "new-record" && <NewRecord vaults={writable} onClose={close} />}
      {open === "sharing" && vault !== undefined && (
        <SharingDialog shared={{ kind: "vault", ...vault }} onClose={close} />
      )}
      {open === "settings" && vault !== undefined && (
        <SettingsDialog
          shared={{ kind: "vault", ...vault }}
          lost={m.removeVaultText(vault.name)}
          onClose={close}
          onChanged={() => undefined}
        />
      )}
      {typeof open === "object" && (
        <OfferDialog
          shared={{ kind: "vault", id: open.offer }}
          onAccepted={() => (shownVault.value = open.offer)}
          onClose={close}
        />
      )}
    </div>
  );
}

/** The name of what the list shows. */
function shownName(): string {
  return state.value.vaults.find(({ id }) => id === shownVault.value)?.name ?? m.allRecords;
}

interface HintProps {
  onNewVault: () => void;
  onNewRecord: (() => void) | undefined;
  children: preact.ComponentChildren;
}

/** The list, or what the person can do where it would be empty. */
function ListOrHint({ onNewVault, onNewRecord, children }: HintProps) {
  const { vaults, connection } = state.value;
  if (found.value.length > 0) return children;
  const [first] = vaults;
  if (first === undefined) {
    if (connection.kind === "connecting") return null;
    return (
      <Empty title={m.noVaultTitle} text={m.noVault} command={m.noVaultCommand} action={[m.newVault, onNewVault]} />
    );
  }
  if (search.value !== "") return <Empty title={m.nothingFound} text={m.nothingFoundHint} />;
  const target = vaults.find(({ id }) => id === shownVault.value) ?? first;
  const action = onNewRecord === undefined ? undefined : ([m.newRecord, onNewRecord] as const);
  return <Empty title={m.noRecordTitle} text={m.noRecord} command={importCommand(target.name)} action={action} />;
}
