import { closeCodes } from "../connections/close-codes.ts";
import type { Connection } from "../connections/connection.ts";

/** One message in the making. It is sent in fragments of about 64 KiB, each when the one before has been taken. */
export interface Fragments {
  /** Whether a piece of so many bytes has to be given to `add`, and waited for. */
  isFull(bytes: number): boolean;
  /** Adds a piece that is not to be torn. */
  join(piece: Uint8Array | string): void;
  /** The same; resolves when there is room for more. Rejects when the connection is closed. */
  add(piece: Uint8Array | string): Promise<void>;
  /** Adds the last piece; resolves when all is taken. */
  end(piece: string): Promise<void>;
}

const fragmentLength = 64 * 1024;

/** `milliseconds` is how long a fragment may wait to be taken; then the connection is closed with 1013. */
export function createFragments(connection: Connection, milliseconds: number): Fragments {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let sent: Promise<void> = Promise.resolve();

  const join = (piece: Uint8Array | string): void => {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    pieces.push(bytes);
    length += bytes.length;
  };
  const send = async (part: Uint8Array, last: boolean): Promise<void> => {
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
    // One alone, as nearly all are, is not copied.
    const [first] = pieces;
    const part = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces, length);
    pieces = [];
    length = 0;
    await sent;
    sent = send(part, last);
    // Whoever waits for it next hears of it.
    sent.catch(() => undefined);
  };

  return {
    isFull: (bytes) => length + bytes >= fragmentLength,
    join,
    add: async (piece) => {
      join(piece);
      if (length >= fragmentLength) await sendAll(false);
    },
    end: async (piece) => {
      join(piece);
      await sendAll(true);
      await sent;
    },
  };
}
