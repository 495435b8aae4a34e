// When a client ends: never, at a moment in the reader's calendar and zone, or so many days after the first use.
import { fromAbsolute } from '@internationalized/date';
import { DateField, DateInput, DateSegment, Label } from 'react-aria-components';
import { shownTime } from '../format/formatter.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { wholeOf } from './fields.js';

const DAY = 24 * 3_600_000;
const USUAL_DAYS = 30;
type Kind = 'never' | 'date' | 'firstUse';

export interface ExpiryFieldProps {
  /** Unix ms as a text; blank: never; negative: so many ms from the first use on */
  readonly value: string;
  readonly change: (value: string) => void;
}

const kindOf = (expiry: number): Kind => {
  if (expiry === 0) return 'never';
  return expiry > 0 ? 'date' : 'firstUse';
};

export function ExpiryField({ value, change }: ExpiryFieldProps) {
  const { say, format } = useReader();
  const expiry = wholeOf(value) ?? 0;
  const kind = kindOf(expiry);
  const choose = (chosen: Kind): void => {
    if (chosen === 'never') change('');
    else if (chosen === 'date') change(String(Date.now() + USUAL_DAYS * DAY));
    else change(String(-USUAL_DAYS * DAY));
  };
  return (
    <div className="field expiry">
      <Choice
        label={say('column.ends')}
        value={kind}
        options={[
          { value: 'never', text: say('ends.never') },
          { value: 'date', text: say('expiry.date') },
          { value: 'firstUse', text: say('expiry.firstUse') },
        ]}
        choose={choose}
      />
      {kind === 'date' && (
        <DateField
          className="date"
          granularity="minute"
          hideTimeZone
          value={fromAbsolute(shownTime(expiry), format.timeZone)}
          onChange={(moment) => moment && change(String(moment.toDate().getTime()))}
        >
          <Label>{say('expiry.moment', { zone: format.timeZone })}</Label>
          <DateInput className="input segments">
            {(segment) => <DateSegment segment={segment} className="segment" />}
          </DateInput>
        </DateField>
      )}
      {kind === 'firstUse' && (
        <Field
          label={say('expiry.length')}
          unit={say('field.days')}
          inputMode="numeric"
          isPlain
          value={String(Number((-expiry / DAY).toFixed(3)))}
          onChange={(typed) => {
            const days = wholeOf(typed);
            if (days !== undefined && days > 0) change(String(-days * DAY));
          }}
        />
      )}
    </div>
  );
}
