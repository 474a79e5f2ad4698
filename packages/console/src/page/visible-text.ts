import { options } from "preact";
import type { ComponentChildren, VNode } from "preact";

/**
 * Characters that reorder or hide text. With one, a name of a colleague's choice could pass for another name. Joiners
 * are left within scripts that need them, and within pictographs, with their selector U+FE0F.
 */
const unseen =
  /(?<!\p{Extended_Pictographic}|[0-9#*])\ufe0f|(?<![^\p{ASCII}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Join_Control}|(?![\ufe0f\t\n]|\r\n|\p{Join_Control})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A text in which such characters are shown as the command shows them: `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(unseen, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Makes Preact show every text so, but what is in a field. */
export function showUnseen(): void {
  const before = options.vnode;
  options.vnode = (node: VNode) => {
    if (typeof node.type === "string" && node.type !== "textarea") {
      const props = node.props as { children?: ComponentChildren };
      if (props.children !== undefined) props.children = shown(props.children);
    }
    before?.(node);
  };
}

function shown(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return visible(children);
  return Array.isArray(children) ? children.map(shown) : children;
}
