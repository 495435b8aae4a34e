// Fields of an inbound that a number would not say: its quota, its end, the machine that runs it.
import { fromAbsolute } from '@internationalized/date';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { DateField, DateInput, DateSegment, Label } from 'react-aria-components';
import { bytesOfTyped, gigabyteName, typedBytes } from '../format/bytes.js';
import { shownTime } from '../format/formatter.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { nodesQuery } from '../nodes/queries.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';

const USUAL_MS = 30 * 24 * 3_600_000;

interface OwnProps {
  readonly value: unknown;
  readonly set: (value: number | undefined) => void;
  readonly problem?: string;
}

const problemIn = ({ problem }: OwnProps) => (problem === undefined ? {} : { problem });

/** What is no amount yet stays in the field, and the value remains as it was. */
export function QuotaField(props: OwnProps) {
  const { say, format } = useReader();
  const { value, set } = props;
  const [typing, setTyping] = useState<string>();
  const isWrong = typing !== undefined && bytesOfTyped(typing, format.units) === undefined;
  return (
    <Field
      label={say('field.quota')}
      hint={say('field.blankNoLimit')}
      unit={gigabyteName(format.units)}
      inputMode="decimal"
      isPlain
      {...problemIn(props)}
      {...(isWrong && { problem: say('inbounds.notAmount') })}
      value={typing ?? typedBytes(Number(value ?? 0), format.units)}
      onChange={(text) => {
        setTyping(text);
        const bytes = bytesOfTyped(text, format.units);
        if (bytes !== undefined) set(bytes);
      }}
      onBlur={() => !isWrong && setTyping(undefined)}
    />
  );
}

export function EndField(props: OwnProps) {
  const { say, format } = useReader();
  const { value, set } = props;
  const end = Number(value ?? 0);
  return (
    <>
      <Choice
        label={say('column.ends')}
        value={end > 0 ? 'date' : 'never'}
        options={[
          { value: 'never', text: say('ends.never') },
          { value: 'date', text: say('expiry.date') },
        ]}
        choose={(kind) => set(kind === 'never' ? 0 : Date.now() + USUAL_MS)}
        {...problemIn(props)}
      />
      {end > 0 && (
        <DateField
          className="date"
          granularity="minute"
          hideTimeZone
          value={fromAbsolute(shownTime(end), format.timeZone)}
          onChange={(moment) => moment && set(moment.toDate().getTime())}
        >
          <Label>{say('expiry.moment', { zone: format.timeZone })}</Label>
          <DateInput className="input segments">
            {(segment) => <DateSegment segment={segment} className="segment" />}
          </DateInput>
        </DateField>
      )}
    </>
  );
}

/** Nothing where there are no nodes. */
export function NodeField(props: OwnProps) {
  const { say } = useReader();
  const { value, set } = props;
  const nodes = (useQuery(nodesQuery).data ?? []).filter(({ transitive }) => !transitive);
  const own = typeof value === 'number' ? String(value) : '';
  const isUnknown = own !== '' && nodes.every(({ id }) => String(id) !== own);
  if (nodes.length === 0 && own === '') return null;
  return (
    <Choice
      label={say('inbounds.machine')}
      value={own}
      options={[
        { value: '', text: say('inbounds.thisMachine') },
        ...(isUnknown ? [{ value: own, text: own }] : []),
        ...nodes.map(({ id, name }) => ({ value: String(id), text: shownName(name) })),
      ]}
      choose={(id) => set(id === '' ? undefined : Number(id))}
      {...problemIn(props)}
    />
  );
}
