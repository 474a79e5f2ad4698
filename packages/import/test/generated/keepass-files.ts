import { element, textElement } from "../../src/xml/write-xml.ts";
import type { GeneratedFile, Maker } from "./maker.ts";
import { bytesOf } from "../records.ts";

const keys = [
  ...["UserName", "Password", "URL", "Notes", "KP2A_URL", "KP2A_URL_1", "otp", "TimeOtp-Secret-Base32", "TOTP Seed"],
  ...["TOTP Settings", "KPEX_PASSKEY_RELYING_PARTY", "KPEX_PASSKEY_PRIVATE_KEY_PEM", "PIN", "PIN", "", "constructor"],
];

function entry(make: Maker, title: string): string {
  const strings = make.times(8, () => {
    const key = make.any(keys);
    const hidden = make.chance(30);
    const value = make.value(`the string ${key}`, { hard: true });
    return element(
      "String",
      textElement("Key", key) + textElement("Value", value, hidden ? { ProtectInMemory: "True" } : {}),
    );
  });
  const placing = (leftOutAs: string) => ({ leftOutAs, item: title });
  return element(
    "Entry",
    [
      textElement("UUID", "AAAAAAAAAAAAAAAAAAAAAA=="),
      element("String", textElement("Key", "Title") + textElement("Value", title)),
      ...strings,
      ...(make.chance(30) ? [textElement("Tags", make.value("tags"))] : []),
      ...(make.chance(20) ? [textElement("OverrideURL", make.value("another address"))] : []),
      ...(make.chance(20) ? [textElement("NewElement", make.value("a new element", placing("NewElement")))] : []),
      ...make.times(1, () =>
        element("Binary", textElement("Key", make.value("a file", { ...placing("attached file"), isName: true }))),
      ),
      ...(make.chance(20)
        ? [element("AutoType", textElement("DefaultSequence", make.value("auto-type", placing("auto-type"))))]
        : []),
      ...(make.chance(20)
        ? [
            element(
              "CustomData",
              element(
                "Item",
                textElement("Key", "plugin") + textElement("Value", make.value("plug-in", placing("plug-in"))),
              ),
            ),
          ]
        : []),
      ...(make.chance(30)
        ? [
            element(
              "History",
              element(
                "Entry",
                element(
                  "String",
                  textElement("Key", "Password") +
                    textElement("Value", make.value("an earlier version", placing("earlier versions"))),
                ),
              ),
            ),
          ]
        : []),
    ].join(""),
  );
}

function group(make: Maker, path: string, depth: number): string {
  const name = `group ${path}`;
  return element(
    "Group",
    [
      textElement("UUID", "AQAAAAAAAAAAAAAAAAAAAA=="),
      textElement("Name", name),
      ...(make.chance(20)
        ? [textElement("Notes", make.value("a group's notes", { leftOutAs: "the notes of the group" }))]
        : []),
      ...(make.chance(10)
        ? [textElement("Tags", make.value("a group's tags", { leftOutAs: "Tags of the group" }))]
        : []),
      ...make.times(4, (index) => entry(make, `entry ${path}-${index}`)),
      ...(depth === 0 ? [] : make.times(2, (index) => group(make, `${path}-${index}`, depth - 1))),
    ].join(""),
  );
}

/** KeePass's XML, also with several databases or roots, and with entries outside of groups. */
export function keepassXml(make: Maker): GeneratedFile {
  const roots = Array.from({ length: make.any([1, 1, 1, 2]) }, (_, root) =>
    element(
      "Root",
      [
        ...Array.from({ length: make.any([1, 1, 2]) }, (__, index) => group(make, `${root}.${index}`, 2)),
        ...(make.chance(15) ? [entry(make, `entry in root ${root}`)] : []),
        element("DeletedObjects", ""),
      ].join(""),
    ),
  );
  const meta = element("Meta", textElement("Generator", "KeePass"));
  const text = `<?xml version="1.0" encoding="utf-8"?>\n${element("KeePassFile", meta + roots.join("\n"))}`;
  return { format: "keepass-xml", bytes: bytesOf(text), placed: make.placed };
}
