import { joinNested } from "../bitwarden/nested-name.ts";
import { splitUris } from "../bitwarden/csv-uris.ts";
import type { OtherCell } from "../csv/read-csv.ts";
import type { Draft } from "../draft.ts";
import { customPrefix } from "../record.ts";
import { asCustom, asNothing } from "./column-fields.ts";

const isTrue = /^(?:1|true|yes|y|x|on)$/i;
const isFalse = /^(?:0|false|no|n|off)$/i;
const hiddenNames = /password|pwd|secret|\bpin\b|cvv|cvc|private.?key|passphrase|token|otp/i;
const hiddenFields = ["password", "totp_secret", "code", "private_key", "passphrase", "credential"];

/** Separators of addresses in one cell, besides a bare comma. */
const severalUris = /[\r\n]+|,\s+(?=[a-z][a-z\d+.-]*:\/\/)/i;

/** Whether a cell means true. */
export function isOn(value: string): boolean {
  return isTrue.test(value.trim());
}

/** Whether a cell means false. */
export function isOff(value: string): boolean {
  return isFalse.test(value.trim());
}

/**
 * Stores a cell in the field of its column. A further or malformed value becomes a custom field
 * with the column's heading, so that no cell is lost.
 */
export function putCell(draft: Draft, field: string, { heading, value }: OtherCell): void {
  const asOther = (text = value): void => {
    const hidden = hiddenNames.test(heading) || hiddenFields.includes(field);
    draft.custom(heading, text, hidden ? "hidden" : "text");
  };
  const put = (text: string): void => {
    if (!draft.has(field)) draft.set(field, text);
    else if (draft.get(field) !== text) asOther();
  };
  switch (field) {
    case asNothing:
      return;
    case asCustom:
    case "type":
      asOther();
      return;
    case "uri":
      for (const uri of value.split(severalUris).flatMap(splitUris)) draft.addUri(uri);
      return;
    case "folder":
      put(joinNested(value));
      return;
    case "tags":
      put(
        value
          .split(/[,;\r\n]/)
          .map((tag) => tag.trim())
          .filter((tag) => tag !== "")
          .join("\n"),
      );
      return;
    case "favorite":
    case "archived":
    case "reprompt":
      if (isOn(value)) put("true");
      else if (!isOff(value)) asOther();
      return;
    case "original_created_at":
    case "original_updated_at":
      put(momentOf(value));
      return;
    case "expiry":
      putExpiry(draft, value, asOther);
      return;
    default:
      if (field.startsWith(customPrefix)) draft.custom(field.slice(customPrefix.length), value);
      else put(value);
  }
}

/** `09/28`, `9-2028` or `2028-09`. */
function putExpiry(draft: Draft, value: string, asOther: () => void): void {
  const text = value.trim();
  const [, month, year] = /^(\d{1,2})\s*[/.-]\s*(\d{2}|\d{4})$/.exec(text) ?? [];
  const [, isoYear, isoMonth] = /^(\d{4})-(\d{1,2})$/.exec(text) ?? [];
  const number = Number(month ?? isoMonth);
  if (!(number >= 1 && number <= 12) || draft.has("exp_month") || draft.has("exp_year")) {
    asOther();
    return;
  }
  const years = year ?? isoYear ?? "";
  draft.set("exp_month", String(number));
  draft.set("exp_year", years.length === 2 ? `20${years}` : years);
}

/** Seconds or milliseconds since 1970 as ISO 8601; other text unchanged. */
function momentOf(value: string): string {
  const text = value.trim();
  const milliseconds = /^\d{13}$/.test(text)
    ? Number(text)
    : /^\d{9,10}$/.test(text)
      ? Number(text) * 1000
      : Number.NaN;
  return Number.isNaN(milliseconds) ? text : new Date(milliseconds).toISOString();
}
