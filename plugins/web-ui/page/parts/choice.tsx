// A choice of a few values: the browser's own list, which phones show best.
import { useId } from 'react';

export interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly text: string }[];
  readonly choose: (value: T) => void;
  /** the label is read, and not shown */
  readonly isCompact?: boolean;
}

export function Choice<T extends string>({ label, value, options, choose, isCompact }: ChoiceProps<T>) {
  const id = useId();
  return (
    <span className="choice" data-compact={isCompact || undefined}>
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={({ target }) => choose(target.value as T)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </span>
  );
}
