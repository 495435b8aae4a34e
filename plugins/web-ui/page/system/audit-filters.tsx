// Which changes are shown. Choices apply at once; names and days, which are exact, when they are complete.
import { parseDate } from '@internationalized/date';
import { SlidersHorizontal } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button, DateField, DateInput, DateSegment, Form, Label } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { useIsNarrow } from '../parts/narrow.js';
import {
  AREAS,
  type AuditView,
  auditViewOf,
  type Hours,
  HOURS,
  isFiltered,
  isKnownArea,
  type Kind,
  KINDS,
} from './audit-view.js';

const HOUR = 3_600_000;
const NONE = auditViewOf({});

export interface AuditFiltersProps {
  readonly view: AuditView;
  readonly show: (view: AuditView) => void;
}

export function AuditFilters(props: AuditFiltersProps) {
  const { say } = useReader();
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const count = Object.values(props.view).filter((value) => value !== undefined).length;
  return (
    <search className="audit-search" aria-label={say('filter.label')}>
      {isNarrow && (
        <Button className="button" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          <SlidersHorizontal size={16} aria-hidden />
          {say('filter.chosen', { count })}
        </Button>
      )}
      {(!isNarrow || isOpen) && <Fields {...props} />}
    </search>
  );
}

function Fields({ view, show }: AuditFiltersProps) {
  const { say, format } = useReader();
  const [typed, setTyped] = useState(view);
  const [isBetween, setBetween] = useState(view.from !== undefined || view.until !== undefined);
  const type = (part: Partial<AuditView>): void => setTyped((now) => ({ ...now, ...part }));
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    show(auditViewOf({ ...typed }));
  };
  const choose = (part: Partial<AuditView>): void => show(auditViewOf({ ...typed, ...part }));
  const all = { value: '', text: say('filter.all') };
  const area = typed.area ?? '';
  const others = area === '' || isKnownArea(area) ? [] : [{ value: area, text: area }];
  const chooseTime = (chosen: string): void => {
    setBetween(chosen === 'days');
    if (chosen === 'days') type({ hours: undefined });
    else choose({ hours: (chosen || undefined) as Hours | undefined, from: undefined, until: undefined });
  };
  return (
    <Form className="audit-filters" onSubmit={submit}>
      <Choice
        label={say('audit.area')}
        value={area}
        options={[
          all,
          ...AREAS.map((value) => ({ value: value as string, text: say(`audit.area.${value}`) })),
          ...others,
        ]}
        choose={(chosen) => choose({ area: chosen || undefined })}
      />
      <Choice
        label={say('audit.kind')}
        value={typed.kind ?? ''}
        options={[all, ...KINDS.map((value) => ({ value, text: say(`audit.kind.${value}`) }))]}
        choose={(kind) => choose({ kind: (kind || undefined) as Kind | undefined })}
      />
      <Choice
        label={say('audit.when')}
        value={isBetween ? 'days' : (typed.hours ?? '')}
        options={[
          { value: '', text: say('audit.anyTime') },
          ...HOURS.map((value) => ({
            value: value as string,
            text: say('audit.last', { time: format.duration(Number(value) * HOUR) }),
          })),
          { value: 'days', text: say('audit.days') },
        ]}
        choose={chooseTime}
      />
      {isBetween && (
        <>
          <Day label={say('audit.from')} value={typed.from} change={(from) => type({ from })} />
          <Day label={say('audit.until')} value={typed.until} change={(until) => type({ until })} />
        </>
      )}
      <Field
        label={say('audit.who')}
        hint={say('audit.exact')}
        value={typed.who ?? ''}
        onChange={(who) => type({ who })}
        maxLength={255}
      />
      <Field
        label={say('audit.name')}
        hint={say('audit.exact')}
        value={typed.name ?? ''}
        onChange={(name) => type({ name })}
        maxLength={255}
      />
      <div className="actions">
        <Button type="submit" className="button main">
          {say('audit.show')}
        </Button>
        {isFiltered(view) && (
          <Button className="button" onPress={() => show(NONE)}>
            {say('audit.clear')}
          </Button>
        )}
      </div>
    </Form>
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly change: (day: string | undefined) => void;
}

/** Shown in the calendar of the reader. */
function Day({ label, value, change }: DayProps) {
  return (
    <DateField
      className="date"
      value={value === undefined ? null : parseDate(value)}
      onChange={(day) => change(day?.toString())}
    >
      <Label>{label}</Label>
      <DateInput className="input segments">
        {(segment) => <DateSegment segment={segment} className="segment" />}
      </DateInput>
    </DateField>
  );
}
