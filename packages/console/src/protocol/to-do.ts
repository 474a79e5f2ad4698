// What waits for the person.

import type { PagePath } from "../paths.ts";
import type { ToRotate } from "./sharing.ts";

/** Something that waits for the person. */
export interface ToDoItem {
  kind:
    | "unconfirmed"
    | "ended"
    | "without_key"
    | "key_changed"
    | "offer"
    | "locked"
    | "secret_expires"
    | "secret_expired"
    | "machine_unseen"
    | "machine_ends"
    | "token_unused"
    | "destination";
  name: string;
  /** The folder, vault or application, or the code of a problem. May be empty. */
  of: string;
  at: string | null;
  /** Where it is done. */
  path: PagePath;
  openId: string | null;
}

export interface ToDoView {
  rotate: ToRotate[];
  items: ToDoItem[];
}

export interface ToDoCalls {
  toDo(): ToDoView;
}
