// A choice of a few values: the browser's own list, which phones show best.
import { useId } from 'react';
import { Notes } from './field.js';

export interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly text: string }[];
  readonly choose: (value: T) => void;
  readonly hint?: string;
  /** what is wrong with the value */
  readonly problem?: string;
  /** the label is read, and not shown */
  readonly isCompact?: boolean;
}

export function Choice<T extends string>(props: ChoiceProps<T>) {
  const { label, value, options, choose, hint, problem, isCompact } = props;
  const id = useId();
  return (
    <span className="choice" data-compact={isCompact || undefined}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="input"
        value={value}
        {...((hint ?? problem) !== undefined && { 'aria-describedby': `${id}-notes` })}
        aria-invalid={problem !== undefined}
        onChange={({ target }) => choose(target.value as T)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
      <Notes id={`${id}-notes`} hint={hint} problem={problem} />
    </span>
  );
}
