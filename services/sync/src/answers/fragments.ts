import { closeCodes } from "../connections/close-codes.ts";
import type { Connection } from "../connections/connection.ts";

/**
 * A message that is sent in fragments of about 64 KiB, each after the socket has taken the one
 * before.
 */
export interface Fragments {
  /** Whether a piece of so many bytes needs `add` and its wait. */
  isFull(bytes: number): boolean;
  /** Adds a piece that must not be split. */
  join(piece: Uint8Array | string): void;
  /** Adds a piece with backpressure. Rejects if the connection is closed. */
  add(piece: Uint8Array | string): Promise<void>;
  /** Adds the last piece; resolves when the socket has taken everything. */
  end(piece: string): Promise<void>;
}

const fragmentLength = 64 * 1024;

/** Closes the connection with 1013 if the socket does not take a fragment within `milliseconds`. */
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
      () => connection.close(closeCodes.tryAgain, "the client does not read the answer"),
      milliseconds,
    ).unref();
    try {
      await connection.sendPart(part, last);
    } finally {
      clearTimeout(late);
    }
  };
  const sendAll = async (last: boolean): Promise<void> => {
    // Avoids a copy of a single piece, the usual case.
    const [first] = pieces;
    const part = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces, length);
    pieces = [];
    length = 0;
    await sent;
    sent = send(part, last);
    // The next call awaits `sent` and throws.
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
