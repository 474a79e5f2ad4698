import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Push } from "../pushes/push.ts";
import type { SyncRequest } from "../answers/read-request.ts";
import { type CloseCode, closeCodes } from "./close-codes.ts";
import { createPushQueue, type PushQueue } from "./push-queue.ts";

/** The device and session of a connection. */
export interface Holder {
  /** Unique, unlike `requestId`, which a client may choose. */
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
 * One device's connection, and the order of its messages. While an answer is sent in fragments, or
 * the socket is full, everything else waits.
 */
export class Connection {
  readonly holder: Holder;
  readonly socket: WebSocket;
  readonly #stream: Duplex;
  /** Queued sync requests, the oldest first. */
  readonly requests: SyncRequest[] = [];
  badMessages = 0;
  /** End of the rate limit of its session, in milliseconds of `performance.now`. */
  refusedUntil = 0;
  /** Deadline of the awaited pong, in milliseconds of `performance.now`; 0: none. */
  pongDue = 0;
  /** When the ping was written that the socket has not taken yet; 0: none. */
  pingHandedOver = 0;
  /** The close code of this side or of ws. */
  closedWith: number | null = null;
  #pushQueue: PushQueue | null = null;
  /** Messages that wait for the current answer. */
  readonly #queuedFrames: Buffer[] = [];
  /** Answers are being sent. */
  #answering = false;
  /** A message is incomplete: only its next fragment may be sent. */
  #halfSent = false;
  /** The first answer was sent. */
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

  /** Open, with an active session. Otherwise only a farewell is sent and no message is answered. */
  get isServed(): boolean {
    return this.isOpen && !this.#ended;
  }

  get isAnswering(): boolean {
    return this.#answering;
  }

  /** Closes the connection once; later calls do nothing. */
  close(code: CloseCode, reason: string): void {
    if (this.closedWith !== null) return;
    this.closedWith = code;
    this.#pushQueue = null;
    this.requests.length = 0;
    this.socket.close(code, reason);
  }

  /** Sends or queues pushes. Closes a connection whose queue exceeds 1 MiB. */
  push(pushes: readonly Push[]): void {
    if (!this.isServed) return;
    if (pushes.length > 1) this.#stream.cork();
    for (const push of pushes) this.#pushOne(push);
    if (pushes.length > 1) this.#stream.uncork();
  }

  #pushOne(push: Push): void {
    // The first answer will contain it.
    if (push.inAnswers && !this.#live && !this.#answering) return;
    if (!this.#live || this.#answering || this.#isStalled()) this.#enqueue(push);
    else this.#write(push);
  }

  /** Sends a message, after the current answer if there is one. */
  send(message: object): void {
    if (!this.isServed) return;
    const frame = Buffer.from(JSON.stringify(message));
    if (this.#answering) this.#queuedFrames.push(frame);
    else this.socket.send(frame, text);
  }

  beginAnswering(): void {
    this.#answering = true;
  }

  /**
   * Ends a request, `answered` or refused, and sends what has waited. `more`: another one follows.
   */
  endRequest({ answered, more }: { answered: boolean; more: boolean }): void {
    this.#live ||= answered;
    this.#answering = false;
    this.#flush();
    this.#answering = more;
  }

  /**
   * Sends a fragment; resolves when the socket has taken it, rejects if the connection is not
   * served.
   */
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
   * The session has ended: drops queued requests and messages. An incomplete answer closes the
   * connection, since no farewell can be sent within it.
   */
  endSession(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#pushQueue = null;
    this.#queuedFrames.length = 0;
    this.requests.length = 0;
    if (this.#halfSent) this.close(closeCodes.expired, "the session has ended");
  }

  /** Sends the last message, after `endSession`. */
  sendLast(push: Push): void {
    if (this.isOpen) this.#write(push);
  }

  /** Bypasses ws: without compression it has no queue before the socket. */
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

  #enqueue(push: Push): void {
    this.#pushQueue ??= createPushQueue();
    this.#pushQueue.add(push);
    if (this.#pushQueue.bytes > mostWaitingBytes)
      this.close(closeCodes.tryAgain, "the client does not read its messages");
  }

  #flush(): void {
    if (this.#ended) return;
    // Unlike pushes, these do not wait for the first answer, which may have been refused.
    for (const frame of this.#queuedFrames.splice(0)) if (this.isOpen) this.socket.send(frame, text);
    if (!this.#live) return;
    while (this.#pushQueue !== null && this.isOpen && !this.#isStalled()) {
      const push = this.#pushQueue.next();
      if (push === undefined) this.#pushQueue = null;
      else this.#write(push);
    }
  }
}
