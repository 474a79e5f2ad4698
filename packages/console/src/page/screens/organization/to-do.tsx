import { m } from "../../../messages/messages.ts";
import type { ToDoItem } from "../../../protocol/to-do.ts";
import { momentOf } from "../../dates.ts";
import { Page } from "../../parts/page.tsx";
import { RotateNotice } from "../../parts/organization/rotate-notice.tsx";
import { go } from "../../router.ts";
import { call } from "../../store.ts";
import { useLoad } from "../../use-load.ts";

/** Screen 20: what waits for the person, each with the way to it. */
export function ToDo() {
  const { view, slow, problem } = useLoad(() => call("toDo"));
  return (
    <Page title={m.toDo} problem={problem} wide>
      {view === null && slow && <p class="hint">{m.toDoLooking}</p>}
      {view !== null && (
        <>
          {view.rotate.length + view.items.length === 0 && <p class="good">{m.toDoNothing}</p>}
          <RotateNotice rotate={view.rotate} />
          <ul class="members" aria-label={m.toDo}>
            {view.items.map((item) => (
              <li key={JSON.stringify(item)}>
                <Item item={item} />
              </li>
            ))}
          </ul>
          <p class="hint">{m.toDoWhy}</p>
        </>
      )}
    </Page>
  );
}

function Item({ item: { kind, name, of, at, path, openId } }: { item: ToDoItem }) {
  const text = m.toDoItems[kind](name, of, at === null ? m.never : momentOf(at));
  return (
    <>
      <span>{text}</span>
      <button aria-label={`${m.open}: ${text}`} onClick={() => go({ path, openId })}>
        {m.open}
      </button>
    </>
  );
}
