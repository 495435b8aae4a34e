// Fields whose text is not their value: JSON, a list with an item on each line, secrets that are masked.
import { Eye, EyeOff } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { ToggleButton } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { jsonOf } from './values.js';

export interface CommonProps {
  readonly label: string;
  readonly hint?: string;
  readonly problem?: string;
}
interface JsonProps extends CommonProps {
  readonly value: unknown;
  readonly set: (value: unknown) => void;
}

/** Text that is not JSON yet stays in the field, and the value remains as it was. */
export function JsonField({ problem, value, set, ...rest }: JsonProps) {
  const { say } = useReader();
  const id = useId();
  const shown = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [typing, setTyping] = useState<string>();
  const isBroken = typing !== undefined && jsonOf(typing) === undefined;
  const wrong = isBroken ? say('forms.notJson') : problem;
  return (
    <Field
      {...rest}
      id={id}
      isLong
      isPlain
      {...(wrong !== undefined && { problem: wrong })}
      value={typing ?? shown}
      onChange={(text) => {
        setTyping(text);
        const parsed = jsonOf(text);
        if (parsed) set(parsed.value);
      }}
      onBlur={() => !isBroken && setTyping(undefined)}
    />
  );
}

interface TextProps extends CommonProps {
  readonly value: string;
  readonly type: (text: string) => void;
}

/** Blank lines stay while somebody types; they are no items. */
export function ListField({ hint, value, type, ...rest }: TextProps) {
  const { say } = useReader();
  const [typing, setTyping] = useState<string>();
  return (
    <Field
      {...rest}
      hint={hint ?? say('forms.onePerLine')}
      isLong
      isPlain
      value={typing ?? value}
      onChange={(text) => {
        setTyping(text);
        type(text);
      }}
      onBlur={() => setTyping(undefined)}
    />
  );
}

interface SecretProps extends TextProps {
  readonly placeholder?: string;
}

export function SecretField({ type, label, ...rest }: SecretProps) {
  const [isSeen, setSeen] = useState(false);
  return (
    <Field
      {...rest}
      label={label}
      type={isSeen ? 'text' : 'password'}
      autoComplete="new-password"
      spellCheck="false"
      isPlain
      onChange={type}
      end={<ShowButton name={label} isSeen={isSeen} setSeen={setSeen} />}
    />
  );
}

interface HiddenProps {
  readonly label: string;
  readonly problem?: string;
  /** of the value, when the form is opened */
  readonly isBlank: boolean;
  readonly field: ReactNode;
}

/** Browsers mask no text of several lines: it is not there until somebody wants to see it. */
export function HiddenUntilSeen({ isBlank, field, ...rest }: HiddenProps) {
  const [isSeen, setSeen] = useState(isBlank);
  const show = <ShowButton name={rest.label} isSeen={isSeen} setSeen={setSeen} />;
  return isSeen ? (
    <>
      {field}
      {show}
    </>
  ) : (
    <Field {...rest} isPlain isReadOnly type="password" value="secret" end={show} />
  );
}

interface ShowProps {
  readonly name: string;
  readonly isSeen: boolean;
  readonly setSeen: (isSeen: boolean) => void;
}

function ShowButton({ name, isSeen, setSeen }: ShowProps) {
  const { say } = useReader();
  const Icon = isSeen ? EyeOff : Eye;
  return (
    <ToggleButton
      className="button quiet icon"
      aria-label={say('forms.showSecret', { name })}
      isSelected={isSeen}
      onChange={setSeen}
    >
      <Icon size={20} aria-hidden />
    </ToggleButton>
  );
}
