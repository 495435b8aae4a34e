// The document as text. Text that is not valid yet stays, with the line of the fault.
import { useState } from 'react';
import type { Values } from '../forms/schema.js';
import { useReader } from '../language/context.js';
import { parseInbound } from './document.js';

export interface JsonViewProps {
  readonly document: Values;
  readonly change: (document: Values) => void;
  readonly tellBroken: (isBroken: boolean) => void;
}

export function JsonView({ document, change, tellBroken }: JsonViewProps) {
  const { say } = useReader();
  const [typing, setTyping] = useState<string>();
  const parsed = typing === undefined ? undefined : parseInbound(typing);
  const fault = parsed?.fault;
  const type = (text: string): void => {
    const { document: valid } = parseInbound(text);
    setTyping(text);
    tellBroken(valid === undefined);
    if (valid) change(valid);
  };
  return (
    <div className="field">
      <label htmlFor="inbound-json">{say('inbounds.json')}</label>
      <textarea
        id="inbound-json"
        className="input inbound-json"
        dir="ltr"
        spellCheck={false}
        rows={24}
        aria-invalid={fault !== undefined}
        aria-describedby="inbound-json-fault"
        value={typing ?? JSON.stringify(document, null, 2)}
        onChange={({ target }) => type(target.value)}
        onBlur={() => parsed?.document && setTyping(undefined)}
      />
      <span id="inbound-json-fault" role="status" className="field-problem">
        {fault &&
          say(fault.kind === 'clients' ? 'inbounds.clientsFault' : 'inbounds.fault', { line: fault.line })}
      </span>
    </div>
  );
}
