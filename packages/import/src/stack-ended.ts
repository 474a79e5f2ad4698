/**
 * Whether the stack ended where groups, elements or values are nested by the thousand, which no program writes. There is
 * no other sign of it than the words.
 */
export function stackEnded(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith("Maximum call stack");
}
