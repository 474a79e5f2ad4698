import { useEffect, useId, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { characterSets } from "../../../protocol/records.ts";
import type { CharacterSet } from "../../../protocol/records.ts";
import { call } from "../../store.ts";

const lengths = { characters: { least: 12, most: 64, usual: 20 }, words: { least: 4, most: 12, usual: 6 } };

interface GeneratorProps {
  /** Called with each password that is made. */
  onMade: (password: string) => void;
  onUse: (password: string) => void;
}

/** Makes a new password in the worker. */
export function Generator({ onMade, onUse }: GeneratorProps) {
  const [kind, setKind] = useState<"characters" | "words">("characters");
  const [length, setLength] = useState(lengths.characters.usual);
  const [without, setWithout] = useState<readonly CharacterSet[]>([]);
  const [made, setMade] = useState("");
  const [round, setRound] = useState(0);
  const [group, slider] = [useId(), useId()];
  const { least, most } = lengths[kind];
  useEffect(() => {
    let current = true;
    void call("newPassword", { kind, length, without }).then((password) => {
      if (!current) return;
      setMade(password);
      onMade(password);
    });
    return () => {
      current = false;
    };
  }, [kind, length, without, round]);
  return (
    <fieldset class="generator">
      <legend>{m.generator}</legend>
      <output class="mono">{made}</output>
      <div class="pair">
        {(["characters", "words"] as const).map((each) => (
          <label key={each} class="choice">
            <input
              type="radio"
              name={group}
              checked={kind === each}
              onChange={() => {
                setKind(each);
                setLength(lengths[each].usual);
              }}
            />
            {each === "words" ? m.generatorWords : m.generatorCharacters}
          </label>
        ))}
      </div>
      {kind === "characters" && (
        <div class="pair">
          {characterSets.map((each) => (
            <label key={each} class="choice">
              <input
                type="checkbox"
                checked={!without.includes(each)}
                onChange={({ currentTarget: { checked } }) =>
                  setWithout(checked ? without.filter((other) => other !== each) : [...without, each])
                }
              />
              {m.generatorSets[each]}
            </label>
          ))}
        </div>
      )}
      <label for={slider}>
        {m.generatorLength}: {length}
      </label>
      <input
        id={slider}
        type="range"
        min={least}
        max={most}
        value={length}
        onInput={(event) => setLength(Number(event.currentTarget.value))}
      />
      <p class="buttons">
        <button type="button" onClick={() => onUse(made)}>
          {m.use}
        </button>
        <button type="button" onClick={() => setRound(round + 1)}>
          {m.another}
        </button>
      </p>
    </fieldset>
  );
}
