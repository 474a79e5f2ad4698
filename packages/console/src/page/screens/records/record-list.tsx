import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { RecordSummary } from "../../../protocol/session.ts";
import { copyOf } from "../../copy-record.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";

/** Pixels; the style sheet has the same height. */
const rowHeight = 64;
const spareRows = 8;

interface ListProps {
  listRef: RefObject<HTMLDivElement | null>;
  records: readonly RecordSummary[];
  at: number;
  openId: string | null;
  onOpen: (id: string, index: number) => void;
}

/** Only the rows that are in sight are on the page, so that ten thousand records feel like ten. */
export function RecordList({ listRef, records, at, openId, onOpen }: ListProps) {
  const [view, setView] = useState({ top: 0, height: 800 });
  const measure = (): void => {
    const { scrollTop = 0, clientHeight = 800 } = listRef.current ?? {};
    setView({ top: scrollTop, height: clientHeight });
  };
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (listRef.current !== null) observer.observe(listRef.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const list = listRef.current;
    if (list === null) return;
    const top = at * rowHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
  }, [at]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - spareRows);
  const last = Math.min(records.length, Math.ceil((view.top + view.height) / rowHeight) + spareRows);
  const current = records[at];
  return (
    <>
      <p class="hint count-line" role="status">
        {m.records(records.length)}
      </p>
      <div
        ref={listRef}
        class="records"
        role="grid"
        tabIndex={0}
        aria-label={m.allRecords}
        aria-rowcount={records.length}
        aria-activedescendant={current === undefined ? undefined : `record-${current.id}`}
        onScroll={measure}
      >
        <div
          role="rowgroup"
          style={{
            paddingTop: `${String(first * rowHeight)}px`,
            paddingBottom: `${String((records.length - last) * rowHeight)}px`,
          }}
        >
          {records.slice(first, last).map((record, offset) => (
            <Row
              key={record.id}
              record={record}
              current={first + offset === at}
              open={record.id === openId}
              position={first + offset + 1}
              onOpen={() => onOpen(record.id, first + offset)}
            />
          ))}
        </div>
      </div>
    </>
  );
}

interface RowProps {
  record: RecordSummary;
  current: boolean;
  open: boolean;
  position: number;
  onOpen: () => void;
}

function Row({ record, current, open, position, onOpen }: RowProps) {
  const { id, name, username, host, type } = record;
  const about = [username, host].filter((text) => text !== "").join(" · ");
  const kind = Object.hasOwn(m.types, type) ? m.types[type as keyof typeof m.types] : type; // its own key
  return (
    <div
      id={`record-${id}`}
      class={`record${current ? " current" : ""}${open ? " open" : ""}`}
      role="row"
      aria-rowindex={position}
      aria-selected={current}
    >
      <div role="gridcell" class="record-cell">
        <button class="record-open" tabIndex={-1} aria-current={open} onClick={onOpen}>
          <span class="record-name">{name === "" ? m.untitled : name}</span>
          <span class="record-about">{about === "" ? kind : about}</span>
        </button>
      </div>
      <div role="gridcell" class="record-copies">
        <Copy what="username" icon="user" label={m.copyUser} record={record} shown={username !== ""} />
        <Copy what="password" icon="password" label={m.copyPassword} record={record} shown={record.hasPassword} />
        <Copy what="code" icon="code" label={m.copyCode} record={record} shown={record.hasCode} />
      </div>
    </div>
  );
}

interface CopyProps {
  what: "username" | "password" | "code";
  icon: IconName;
  label: string;
  record: RecordSummary;
  shown: boolean;
}

function Copy({ what, icon, label, record, shown }: CopyProps) {
  if (!shown) return null;
  return (
    <button
      class="bare"
      tabIndex={-1}
      aria-label={`${label}: ${record.name}`}
      title={label}
      onClick={() => void copyOf(what, record)}
    >
      <Icon name={icon} />
    </button>
  );
}
