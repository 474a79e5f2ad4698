interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  /** The values with their texts. */
  options: readonly (readonly [value: Value, text: string])[];
  disabled?: boolean;
  onChoose: (value: Value) => void;
}

/** A labelled choice of one among few. */
export function Choice<Value extends string>({ label, value, options, disabled, onChoose }: ChoiceProps<Value>) {
  return (
    <select
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={({ currentTarget }) => onChoose(currentTarget.value as Value)} // an option's value
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}
