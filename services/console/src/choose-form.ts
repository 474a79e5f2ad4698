import type { Coding } from "@coffer/console-app/manifest";

/** The best first. */
const preferred = ["br", "gzip"] as const;

/**
 * The smallest form that a client takes, by its `Accept-Encoding`. One that takes none of them gets
 * the file as it is, also where it has excluded that.
 */
export function chooseForm<Form>(forms: ReadonlyMap<Coding, Form>, accepted: string | undefined): Form {
  const taken = acceptedCodings(accepted ?? "");
  for (const coding of preferred) {
    const form = forms.get(coding);
    if (form !== undefined && taken.has(coding)) return form;
  }
  const plain = forms.get("identity");
  if (plain === undefined) throw new Error("every file is stored as it is");
  return plain;
}

/** The codings of the header without those of weight 0. */
function acceptedCodings(header: string): Set<string> {
  const parts = header.split(",").map((part) => part.split(";").map((each) => each.trim().toLowerCase()));
  return new Set(parts.filter(([, weight]) => !/^q=0(\.0*)?$/.test(weight ?? "")).map(([name = ""]) => name));
}
