import { useEffect, useState } from "preact/hooks";

/**
 * The id of a choice, at first that of the first item. It stays when another item becomes the first, for
 * example through another device.
 */
export function useFirstId(list: readonly { id: string }[]): [id: string, choose: (id: string) => void] {
  const [id, choose] = useState("");
  const first = list[0]?.id ?? "";
  useEffect(() => {
    if (id === "") choose(first);
  }, [id, first]);
  return [id === "" ? first : id, choose];
}
