/** A text that was encoded inside another. */
export interface Decoded {
  bytes: Buffer;
  /**
   * The offset in the encoding text at which the decoded byte's encoding begins; `bytes.length`
   * gives its end.
   */
  locate: (offset: number) => number;
  /** Whether the decoded text was cut out of a longer one. */
  openStart: boolean;
  openEnd: boolean;
}
