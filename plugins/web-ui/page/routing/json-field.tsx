// An entry of the template as JSON. Text that is not valid yet stays in the draft, with the line of the fault.
import { useId, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { parseDocument } from '../forms/json-text.js';
import { useReader } from '../language/context.js';
import { lineOf } from '../forms/json-lines.js';
import { draft } from './queries.js';
import type { Entry } from './template.js';
import { useDraftState } from './use-draft.js';

export interface JsonFieldProps {
  /** such as `outbounds.2` */
  readonly place: string;
  readonly value: Entry;
  readonly set: (value: Entry) => void;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

export function JsonField({ place, value, set, problems }: JsonFieldProps) {
  const { say } = useReader();
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const broken = useDraftState()?.broken[place];
  const [typing, setTyping] = useState<string>();
  const text = broken ?? typing ?? JSON.stringify(value, null, 2);
  const fault = broken === undefined ? undefined : parseDocument(broken).line;
  const type = (next: string): void => {
    const { document } = parseDocument(next);
    setTyping(next);
    draft.setBroken(place, document ? undefined : next);
    if (document) set(document);
  };
  const select = (line: number): void => {
    const lines = text.split('\n');
    const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (lines[line - 1] ?? '').length);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{say('inbounds.json')}</label>
      <textarea
        id={id}
        ref={area}
        className="input routing-json"
        dir="ltr"
        spellCheck={false}
        rows={20}
        aria-invalid={fault !== undefined || problems.length > 0}
        value={text}
        onChange={({ target }) => type(target.value)}
        onBlur={() => setTyping(undefined)}
      />
      <div role="status" className="stack">
        {fault !== undefined && (
          <Fault line={fault} message={say('inbounds.fault', { line: fault })} select={select} />
        )}
        {fault === undefined &&
          problems.map(({ path, message }) => {
            const line = lineOf(text, path);
            return <Fault key={path + message} line={line} message={message} select={select} />;
          })}
      </div>
    </div>
  );
}

interface FaultProps {
  readonly line: number;
  readonly message: string;
  readonly select: (line: number) => void;
}

function Fault({ line, message, select }: FaultProps) {
  const { say } = useReader();
  return (
    <p className="field-problem routing-fault">
      <Button className="button small" onPress={() => select(line)}>
        {say('routing.showLine', { line })}
      </Button>
      <span dir="auto">{message}</span>
    </p>
  );
}
