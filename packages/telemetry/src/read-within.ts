/** The result of `read`; undefined if it fails or exceeds the limit. */
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
