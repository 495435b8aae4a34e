// Who changed what, the newest change first; what can be undone is undone here.
import { useInfiniteQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { AuditChange } from './audit-change.js';
import { AREAS, type AuditFilter, HOURS, NO_FILTER, PAGE_SIZE, queryOf, sizeOf } from './audit-filter.js';
import './audit.css';

const HOUR = 3_600_000;

export function AuditPage() {
  const { say } = useReader();
  /** with the moment from which `hours` is counted back: all pages begin at the same one */
  const [asked, setAsked] = useState({ filter: NO_FILTER, now: Date.now() });
  const changes = useInfiniteQuery({
    queryKey: ['audit', asked],
    queryFn: ({ pageParam, signal }) =>
      weir.audit.changes({ query: queryOf(asked.filter, asked.now, pageParam) }, { signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (last) => (last.length < PAGE_SIZE ? undefined : last.at(-1)?.id),
    staleTime: 0,
  });
  const all = changes.data?.pages.flat() ?? [];
  return (
    <div className="stack">
      <Filters show={(filter) => setAsked({ filter, now: Date.now() })} />
      {changes.error && <Problem error={changes.error} retry={() => void changes.refetch()} />}
      {changes.isPending && <p className="muted">{say('loading')}</p>}
      {changes.data && all.length === 0 && <p className="muted">{say('audit.none')}</p>}
      {all.length > 0 && (
        <ol className="audit-list">
          {all.map((change, index) => (
            <AuditChange
              key={change.id}
              change={change}
              size={sizeOf(all, change.entry)}
              isFirst={all[index - 1]?.entry !== change.entry}
            />
          ))}
        </ol>
      )}
      {changes.hasNextPage && (
        <div className="actions">
          <Button
            className="button"
            isPending={changes.isFetchingNextPage}
            onPress={() => void changes.fetchNextPage()}
          >
            {say('audit.more')}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Names are exact, and asked for when they are typed to the end. */
function Filters({ show }: { show: (filter: AuditFilter) => void }) {
  const { say, format } = useReader();
  const [filter, setFilter] = useState(NO_FILTER);
  const choose = (part: Partial<AuditFilter>): void => {
    const next = { ...filter, ...part };
    setFilter(next);
    show(next);
  };
  const type = (part: Partial<AuditFilter>): void => setFilter((now) => ({ ...now, ...part }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    show(filter);
  };
  return (
    <Form className="audit-filters" onSubmit={submit}>
      <Choice
        label={say('audit.area')}
        value={filter.area}
        options={[
          { value: '', text: say('audit.all') },
          ...AREAS.map((area) => ({ value: area, text: say(`audit.area.${area}`) })),
        ]}
        choose={(area) => choose({ area })}
      />
      <Choice
        label={say('audit.since')}
        value={filter.hours}
        options={[
          { value: '', text: say('audit.all') },
          ...HOURS.map((hours) => ({ value: String(hours), text: format.duration(hours * HOUR) })),
        ]}
        choose={(hours) => choose({ hours })}
      />
      <Field
        label={say('audit.name')}
        hint={say('audit.exact')}
        value={filter.name}
        onChange={(name) => type({ name })}
        maxLength={255}
      />
      <Field
        label={say('audit.who')}
        hint={say('audit.exact')}
        value={filter.who}
        onChange={(who) => type({ who })}
        maxLength={255}
      />
      <div className="actions">
        <Button type="submit" className="button main">
          {say('audit.show')}
        </Button>
        <Button className="button" onPress={() => choose(NO_FILTER)}>
          {say('audit.clear')}
        </Button>
      </div>
    </Form>
  );
}
