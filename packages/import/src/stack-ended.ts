/**
 * Whether the stack overflowed because groups, elements or values are nested by the thousand, which
 * no program writes. The message is the only indication.
 */
export function stackEnded(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith("Maximum call stack");
}
