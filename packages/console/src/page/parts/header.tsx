import { language, m } from "../../messages/messages.ts";
import { go } from "../router.ts";
import { call, state } from "../store.ts";
import { Icon } from "./icon.tsx";
import { Mark } from "./mark.tsx";

/** The product, how fresh everything is, and the way out. */
export function Header({ onHelp }: { onHelp: () => void }) {
  return (
    <header>
      <Mark />
      <ConnectionState />
      <span class="who">{state.value.user?.email}</span>
      <button class="bare" aria-label={m.folders} title={m.folders} onClick={() => go({ path: "/folders" })}>
        <Icon name="folder" />
      </button>
      <button class="bare" aria-label={m.people} title={m.people} onClick={() => go({ path: "/people" })}>
        <Icon name="people" />
      </button>
      <button class="bare" aria-label={m.account} title={m.account} onClick={() => go({ path: "/account" })}>
        <Icon name="user" />
      </button>
      <button class="bare" aria-label={m.audit} title={m.audit} onClick={() => go({ path: "/audit" })}>
        <Icon name="audit" />
      </button>
      <button class="bare" aria-label={m.travel} title={m.travel} onClick={() => go({ path: "/travel" })}>
        <Icon name="travel" />
      </button>
      <button class="bare keys-help" aria-label={m.help} title={m.help} onClick={onHelp}>
        <Icon name="help" />
      </button>
      <button class="bare" aria-label={m.lock} title={m.lock} onClick={() => void call("lock")}>
        <Icon name="lock" />
      </button>
      <button class="bare" aria-label={m.signOut} title={m.signOut} onClick={() => void call("signOut")}>
        <Icon name="out" />
      </button>
    </header>
  );
}

function ConnectionState() {
  const { connection } = state.value;
  const text =
    connection.kind === "live"
      ? m.live
      : connection.kind === "connecting"
        ? m.connecting
        : m.away(connection.since === null ? null : timeOf(connection.since));
  return (
    <span class={`connection ${connection.kind}`} role="status">
      {text}
    </span>
  );
}

function timeOf(milliseconds: number): string {
  const sameDay = new Date(milliseconds).toDateString() === new Date().toDateString();
  const form: Intl.DateTimeFormatOptions = sameDay
    ? { timeStyle: "short" }
    : { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(language(), form).format(milliseconds);
}
