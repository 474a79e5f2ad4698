import type { ImportFormat } from "../../src/index.ts";
import type { GeneratedFile, Maker } from "./maker.ts";
import { bytesOf } from "../records.ts";

interface Column {
  heading: string;
  cell(name: string): string;
}

/** A table of these columns in any order, as any program may write it. */
function tableOf(make: Maker, format: ImportFormat, columns: readonly Column[], named: string): GeneratedFile {
  const [separator, encoding] = [make.any([",", ",", ";", "\t"]), make.any(["utf-8", "utf-8", "marked", "utf-16"])];
  const lineEnd = make.any(["\n", "\r\n"]);
  const quoted = (cell: string): string =>
    /["\r\n;,\t]/.test(cell) || make.chance(30) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const rows = make.times(8, (index) => {
    const name = `row ${index}`;
    const before = make.placed.length;
    const cells = columns.map(({ heading, cell }) => (heading === named ? name : make.chance(60) ? cell(name) : ""));
    if (make.chance(15) && columns.length > 2) {
      // More cells than headings: the row is left out.
      const line = { item: "line", leftOutAs: `${columns.length + 1} cells under` };
      for (const placed of make.placed.slice(before)) Object.assign(placed, line);
      return [...cells, "surplus"].map(quoted);
    }
    // Empty cells at the end may be missing.
    while (make.chance(50) && cells.length > 2 && cells.at(-1) === "") cells.pop();
    return cells.map(quoted);
  });
  const text = [columns.map(({ heading }) => quoted(heading)), ...rows]
    .map((cells) => `${cells.join(separator)}${lineEnd}`)
    .join("");
  const bytes =
    encoding === "utf-16"
      ? Buffer.from(`\uFEFF${text}`, "utf16le")
      : bytesOf(encoding === "marked" ? `\uFEFF${text}` : text);
  return { format, bytes, placed: make.placed };
}

/** Columns that hold any text. */
function texts(make: Maker, headings: readonly string[], hard = true): Column[] {
  return headings.map((heading) => ({ heading, cell: () => make.value(`the column ${heading}`, { hard }) }));
}

function unknownColumns(make: Maker): Column[] {
  return texts(
    make,
    ["Customer number", "", "PIN", "pin", "custom", "coffer", "名前"].filter(() => make.chance(40)),
  );
}

/** The same columns in another order. */
function shuffled(make: Maker, columns: readonly Column[]): Column[] {
  return columns
    .map((column) => ({ column, at: make.any(Array.from({ length: 100 }, (_, index) => index)) }))
    .sort((a, b) => a.at - b.at)
    .map(({ column }) => column);
}

export function chromeCsv(make: Maker): GeneratedFile {
  const columns = [
    ...texts(make, ["name", "url", "username", "password"]),
    ...(make.chance(70) ? texts(make, ["note"]) : []),
  ];
  return tableOf(make, "chrome-csv", shuffled(make, columns), "name");
}

export function anyCsv(make: Maker): GeneratedFile {
  const columns = [
    ...texts(make, ["Title", "Password"]),
    ...texts(make, ["URL"], false),
    ...texts(
      make,
      ["Login", "Username", "E-Mail", "Notes", "Comments", "OTPAuth", "TOTP"].filter(() => make.chance(60)),
    ),
    ...texts(
      make,
      ["Group", "Tags", "cardnumber", "expirydate", "Type", "Favorite"].filter(() => make.chance(40)),
      false,
    ),
    ...unknownColumns(make),
  ];
  return tableOf(make, "csv", shuffled(make, columns), "Title");
}

export function bitwardenCsv(make: Maker): GeneratedFile {
  const columns: Column[] = [
    ...texts(make, ["folder"], false),
    { heading: "favorite", cell: () => make.any(["1", ""]) },
    { heading: "type", cell: () => make.any(["login", "note", ""]) },
    ...texts(make, ["name", "notes"]),
    {
      heading: "fields",
      cell: () => make.times(3, () => `PIN: ${make.value("a line of the fields")}`).join("\n"),
    },
    { heading: "reprompt", cell: () => make.any(["0", "1"]) },
    { heading: "login_uri", cell: () => make.times(3, () => `https://${make.value("an address")}.example`).join(",") },
    ...texts(make, ["login_username", "login_password", "login_totp"]),
    ...unknownColumns(make),
  ];
  return tableOf(make, "bitwarden-csv", columns, "name");
}

const forms = ["Credit Card", "Address", "SSH Key", "Server", "Bank Account", "Custom form"];
const lines = [
  "Number",
  "Name on Card",
  "Security Code",
  "Expiration Date",
  "First Name",
  "Phone",
  "Private Key",
  "Hostname",
  "Pin",
];

function formOf(make: Maker): string {
  const value = (): string => make.value("a line of a form");
  const filled = lines
    .filter(() => make.chance(60))
    .map((line) =>
      line === "Phone" && make.chance(50)
        ? `Phone:{"num":"${value()}","ext":"${value()}","cc3l":"GBR"}`
        : line === "Expiration Date"
          ? `${line}:March,${value()}${make.chance(20) ? `,${value()}` : ""}`
          : `${line}:${value()}`,
    );
  return [`NoteType:${make.any(forms)}`, "Language:en-US", ...filled, `Notes:${value()}`].join("\n");
}

export function lastpassCsv(make: Maker): GeneratedFile {
  const columns: Column[] = [
    {
      heading: "url",
      cell: () =>
        make.chance(50)
          ? make.any(["http://sn", "http://", "http://group"])
          : `https://${make.value("an address")}.example`,
    },
    ...texts(make, ["username", "password", "totp"]),
    { heading: "extra", cell: () => (make.chance(50) ? formOf(make) : make.value("the note", { hard: true })) },
    ...texts(make, ["name"]),
    { heading: "grouping", cell: () => make.value("a folder", { isName: true, leftOutAs: "has a row of its own" }) },
    { heading: "fav", cell: () => (make.chance(70) ? make.any(["0", "1"]) : make.value("another value of fav")) },
    ...unknownColumns(make),
  ];
  return tableOf(make, "lastpass-csv", columns, "name");
}
