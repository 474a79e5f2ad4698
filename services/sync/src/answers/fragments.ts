import { closeCodes } from "../connections/close-codes.ts";
import type { Connection } from "../connections/connection.ts";

/** One message in the making. It is sent in fragments of about 64 KiB, each when the one before has been taken. */
export interface Fragments {
  /** Whether this piece has to be given to `add`, and waited for. */
  isFull(piece: string): boolean;
  /** Adds a piece that is not to be torn. */
  join(piece: string): void;
  /** The same; resolves when there is room for more. Rejects when the connection is closed. */
  add(piece: string): Promise<void>;
  /** Adds the last piece; resolves when all is taken. */
  end(piece: string): Promise<void>;
}

const fragmentLength = 64 * 1024;

/** `milliseconds` is how long a fragment may wait to be taken; then the connection is closed with 1013. */
export function createFragments(connection: Connection, milliseconds: number): Fragments {
  let text = "";
  let sent: Promise<void> = Promise.resolve();

  const send = async (part: string, last: boolean): Promise<void> => {
    const late = setTimeout(
      () => connection.close(closeCodes.tryAgain, "the answer is not taken"),
      milliseconds,
    ).unref();
    try {
      await connection.sendPart(part, last);
    } finally {
      clearTimeout(late);
    }
  };
  const sendAll = async (last: boolean): Promise<void> => {
    const part = text;
    text = "";
    await sent;
    sent = send(part, last);
    // Whoever waits for it next hears of it.
    sent.catch(() => undefined);
  };

  return {
    isFull: (piece) => text.length + piece.length >= fragmentLength,
    join: (piece) => {
      text += piece;
    },
    add: async (piece) => {
      text += piece;
      if (text.length >= fragmentLength) await sendAll(false);
    },
    end: async (piece) => {
      text += piece;
      await sendAll(true);
      await sent;
    },
  };
}
