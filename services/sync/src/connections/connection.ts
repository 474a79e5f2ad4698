import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Push } from "../pushes/push.ts";
import type { SyncRequest } from "../answers/read-request.ts";
import type { CloseCode } from "./close-codes.ts";
import { closeCodes } from "./close-codes.ts";
import type { Waiting } from "./waiting.ts";
import { createWaiting } from "./waiting.ts";

/** Whose connection it is. */
export interface Holder {
  /** Of this connection alone, unlike `requestId`, which a client may choose. */
  readonly connectionId: string;
  readonly userId: string;
  readonly sessionId: string;
  /** When the access token expires, Unix seconds. */
  readonly expiresAt: number;
  /** Of the upgrade, for the audit. */
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | null;
}

const mostWaitingBytes = 1024 * 1024;
const text = { binary: false, compress: false, fin: true };
const fragment = { binary: false, compress: false, fin: false };

/**
 * One device's connection: what goes out on it, and in which order. A message is never torn: while an answer is being
 * sent in fragments everything else waits, and so does what the socket does not take.
 */
export class Connection {
  readonly holder: Holder;
  readonly socket: WebSocket;
  readonly #stream: Duplex;
  /** Syncs that were asked for and not begun, the oldest first. */
  readonly requests: SyncRequest[] = [];
  badMessages = 0;
  /** Until when its session asks in vain, as it was told, in milliseconds of `performance.now`. */
  refusedUntil = 0;
  /** When the pong of the last ping must have come, in milliseconds of `performance.now`; 0: none is awaited. */
  pongDue = 0;
  /** When the ping was handed over that the socket has not taken yet; 0: it has. */
  pingHandedOver = 0;
  /** The code with which this side has closed it, or with which ws has. */
  closedWith: number | null = null;
  #waiting: Waiting | null = null;
  /** What was said while answers were being sent. */
  readonly #unsaid: Buffer[] = [];
  /** Answers are being sent. */
  #answering = false;
  /** The last fragment of a message is still to come: nothing else may go out before it. */
  #halfSent = false;
  /** The first answer is out. */
  #live = false;
  #awaitsDrain = false;
  #ended = false;

  constructor(holder: Holder, socket: WebSocket, stream: Duplex) {
    this.holder = holder;
    this.socket = socket;
    this.#stream = stream;
  }

  get isOpen(): boolean {
    return this.closedWith === null && this.socket.readyState === this.socket.OPEN;
  }

  /** Open, and its session lasts: else nothing but a farewell goes out any more, and nothing that comes in is answered. */
  get isServed(): boolean {
    return this.isOpen && !this.#ended;
  }

  get isAnswering(): boolean {
    return this.#answering;
  }

  /** Closes it, once: a later reason changes nothing. */
  close(code: CloseCode, reason: string): void {
    if (this.closedWith !== null) return;
    this.closedWith = code;
    this.#waiting = null;
    this.requests.length = 0;
    this.socket.close(code, reason);
  }

  /** Sends pushes, or keeps them until what is before them is out. Closes a connection that takes too little. */
  push(pushes: readonly Push[]): void {
    if (!this.isServed) return;
    if (pushes.length > 1) this.#stream.cork();
    for (const push of pushes) this.#pushOne(push);
    if (pushes.length > 1) this.#stream.uncork();
  }

  #pushOne(push: Push): void {
    // The answer that is yet to be asked for will hold it.
    if (push.inAnswers && !this.#live && !this.#answering) return;
    if (!this.#live || this.#answering || this.#isStalled()) this.#keep(push);
    else this.#write(push);
  }

  /** Says something that belongs to this connection alone: at once, or behind the answer that is being sent. */
  say(message: object): void {
    if (!this.isServed) return;
    const frame = Buffer.from(JSON.stringify(message));
    if (this.#answering) this.#unsaid.push(frame);
    else this.socket.send(frame, text);
  }

  /** Answers begin: from now on everything else waits. */
  beginAnswering(): void {
    this.#answering = true;
  }

  /** One request is done with, `answered` or refused. What has waited follows, and `more` answers or none. */
  rest({ answered, more }: { answered: boolean; more: boolean }): void {
    this.#live ||= answered;
    this.#answering = false;
    this.#flush();
    this.#answering = more;
  }

  /** Sends a part of a message; resolves when the socket has taken it, rejects when the connection is not served any more. */
  sendPart(part: Uint8Array, last: boolean): Promise<void> {
    if (!this.isServed) return Promise.reject(new Error("the connection is closed, or its session has ended"));
    this.#halfSent = !last;
    return new Promise((resolve, reject) => {
      this.socket.send(part, last ? text : fragment, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /**
   * Nothing more goes out, because the session has ended. An answer that was not begun is not given; of one that is half
   * sent no end goes out, and no farewell can be said within it: the connection is closed.
   */
  mute(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#waiting = null;
    this.#unsaid.length = 0;
    this.requests.length = 0;
    if (this.#halfSent) this.close(closeCodes.expired, "the session has ended");
  }

  /** The last word to a muted connection. */
  farewell(push: Push): void {
    if (this.isOpen) this.#write(push);
  }

  /** Past ws, which compresses nothing here and so has nothing of its own that waits before the socket. */
  #write({ frame }: Push): void {
    this.#stream.write(frame);
  }

  #isStalled(): boolean {
    if (!this.#stream.writableNeedDrain) return false;
    if (!this.#awaitsDrain) {
      this.#awaitsDrain = true;
      this.#stream.once("drain", () => {
        this.#awaitsDrain = false;
        if (!this.#answering) this.#flush();
      });
    }
    return true;
  }

  #keep(push: Push): void {
    this.#waiting ??= createWaiting();
    this.#waiting.add(push);
    if (this.#waiting.bytes > mostWaitingBytes) this.close(closeCodes.tryAgain, "too much waits to be taken");
  }

  #flush(): void {
    if (this.#ended) return;
    // It does not wait for an answer as pushes do: the one that was asked for may have been refused.
    for (const frame of this.#unsaid.splice(0)) if (this.isOpen) this.socket.send(frame, text);
    if (!this.#live) return;
    while (this.#waiting !== null && this.isOpen && !this.#isStalled()) {
      const push = this.#waiting.next();
      if (push === undefined) this.#waiting = null;
      else this.#write(push);
    }
  }
}
