// Which inbounds a client may use.
import type { InboundsOptionsReply } from '../../../../sdk/index.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';

export interface InboundChoiceProps {
  readonly options: InboundsOptionsReply;
  readonly chosen: readonly number[];
  readonly choose: (ids: readonly number[]) => void;
}

export function InboundChoice({ options, chosen, choose }: InboundChoiceProps) {
  const { say } = useReader();
  const toggle = (id: number, on: boolean): void =>
    choose(on ? [...chosen, id] : chosen.filter((other) => other !== id));
  return (
    <fieldset className="checks">
      <legend className="unseen">{say('field.inbounds')}</legend>
      {options.map(({ id, remark, tag, protocol, port, enable }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ target }) => toggle(id, target.checked)}
          />
          <bdi className="clip">{shownName(remark || tag)}</bdi>
          <span className="muted" dir="ltr">
            {protocol} {port > 0 && port}
          </span>
          {!enable && <span className="tag">{say('inbound.off')}</span>}
        </label>
      ))}
    </fieldset>
  );
}
