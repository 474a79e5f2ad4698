import { h } from "preact";
import t from "tap";
import { showUnseen, visible } from "@coffer/console-app/visible-text";

await t.test("what reorders or hides text is shown", (t) => {
  const shown: readonly [text: string, shown: string][] = [
    ["Production\u200b", "Production\\u{200b}"],
    ["\u202enoitcudorP", "\\u{202e}noitcudorP"],
    ["Pro\u00adduction", "Pro\\u{ad}duction"],
    ["Pro\u200dduction", "Pro\\u{200d}duction"],
    ["Про\u200cд", "Про\\u{200c}д"],
    ["Pro\ufe0fduction", "Pro\\u{fe0f}duction"],
    ["Pro\u034fduction", "Pro\\u{34f}duction"],
    ["Pro\u{e0100}duction", "Pro\\u{e0100}duction"],
    ["a\u2028b\u0007", "a\\u{2028}b\\u{7}"],
    ["\ud800", "\\u{d800}"],
    ["a\rb", "a\\u{d}b"],
  ];
  for (const [text, expected] of shown) t.equal(visible(text), expected);
  t.end();
});

await t.test("other text is shown as it is", (t) => {
  for (const text of [
    "Übung",
    "a\nb\tc",
    "a\r\nb",
    "می\u200cخواهم",
    "क्\u200dष",
    "👩\u200d💻",
    "❤\ufe0f",
    "1\ufe0f\u20e3",
    "א b",
    "日本\u3000語",
  ])
    t.equal(visible(text), text);
  t.end();
});

await t.test("Preact shows every text so, but what is in a field", (t) => {
  showUnseen();
  const name = "Production\u200b";
  t.equal(h("span", null, name).props.children, "Production\\u{200b}");
  t.same(h("p", null, "Give ", name, " away").props.children, ["Give ", "Production\\u{200b}", " away"]);
  t.equal(h("textarea", null, name).props.children, name);
  const Part = ({ children }: { children: string }): string => children;
  t.equal(h(Part, null, name).props.children, name, "a component gets the text itself");
  t.end();
});
