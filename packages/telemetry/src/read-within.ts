/** The outcome of `read`, or `undefined` when it fails or takes longer than the limit. */
export async function readWithin<T>(read: () => T | Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([read(), limit]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
