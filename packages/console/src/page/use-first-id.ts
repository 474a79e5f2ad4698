import { useEffect, useState } from "preact/hooks";

/**
 * The id of a choice that begins with the first of a list. It stays when the list gets another first one, as by
 * another device: the person does not see that.
 */
export function useFirstId(list: readonly { id: string }[]): [id: string, choose: (id: string) => void] {
  const [id, choose] = useState("");
  const first = list[0]?.id ?? "";
  useEffect(() => {
    if (id === "") choose(first);
  }, [id, first]);
  return [id === "" ? first : id, choose];
}
