// A field of a form: label, hint and error are read together.
import type { ReactNode } from 'react';
import {
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  TextField,
  type TextFieldProps,
} from 'react-aria-components';

export interface FieldProps extends Omit<TextFieldProps, 'children' | 'className'> {
  readonly label: string;
  readonly hint?: string;
  /** shown at its end, such as GiB */
  readonly unit?: string;
  /** stands at its end, such as a button */
  readonly end?: ReactNode;
  /** what is wrong with the value */
  readonly problem?: string;
  readonly isLong?: boolean;
  /** keys, numbers, codes: from left to right in each language */
  readonly isPlain?: boolean;
  readonly inputMode?: 'decimal' | 'numeric' | 'text';
  readonly placeholder?: string;
}

export function Field({
  label,
  hint,
  unit,
  end,
  problem,
  isLong,
  isPlain,
  placeholder,
  ...rest
}: FieldProps) {
  const direction = isPlain ? 'ltr' : 'auto';
  return (
    <TextField
      {...rest}
      className="field"
      validationBehavior={problem === undefined ? 'native' : 'aria'}
      isInvalid={problem !== undefined}
    >
      <Label>{label}</Label>
      <span className="control">
        {isLong ? (
          <TextArea className="input" dir={direction} rows={3} />
        ) : (
          <Input className="input" dir={direction} placeholder={placeholder} />
        )}
        {unit !== undefined && <span className="unit">{unit}</span>}
        {end}
      </span>
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-problem">{problem}</FieldError>
    </TextField>
  );
}

export interface NotesProps {
  /** for `aria-describedby` */
  readonly id?: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
}

/** Hint and problem of an input that is no text. */
export function Notes({ id, hint, problem }: NotesProps) {
  if (hint === undefined && problem === undefined) return null;
  return (
    <span id={id} className="notes">
      {hint !== undefined && <span className="hint">{hint}</span>}
      {problem !== undefined && <span className="field-problem">{problem}</span>}
    </span>
  );
}
