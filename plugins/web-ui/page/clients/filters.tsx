// Search and filters of the list.
import { useQuery } from '@tanstack/react-query';
import { Search, SlidersHorizontal } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { inboundsQuery } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { useIsNarrow } from '../parts/narrow.js';
import { type Sort, SORTS, type Status, STATUSES, type View } from './view.js';

const SEARCH_MS = 150;

export interface FiltersProps {
  readonly view: View;
  readonly show: (view: View, isTyping?: boolean) => void;
  readonly groups: readonly string[];
}

export function Filters({ view, show, groups }: FiltersProps) {
  const { say } = useReader();
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const chosen = [view.status, view.inbound, view.group].filter((value) => value !== undefined).length;
  return (
    <search className="filters" aria-label={say('filter.label')}>
      <SearchField view={view} show={show} />
      {isNarrow && (
        <Button className="button" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          <SlidersHorizontal size={16} aria-hidden />
          {say('filter.chosen', { count: chosen })}
        </Button>
      )}
      {(!isNarrow || isOpen) && <Choices view={view} show={show} groups={groups} hasOrder={isNarrow} />}
    </search>
  );
}

/** `hasOrder`: a narrow list has no heads of columns. */
function Choices({ view, show, groups, hasOrder }: FiltersProps & { readonly hasOrder: boolean }) {
  const { say } = useReader();
  const inbounds = useQuery(inboundsQuery).data ?? [];
  const all = { value: '', text: say('filter.all') };
  return (
    <>
      <Choice
        label={say('filter.status')}
        value={view.status ?? ''}
        options={[all, ...STATUSES.map((value) => ({ value, text: say(`status.${value}`) }))]}
        choose={(status) => show({ ...view, status: (status || undefined) as Status | undefined })}
      />
      <Choice
        label={say('filter.inbound')}
        value={view.inbound ?? ''}
        options={[
          all,
          ...inbounds.map(({ id, remark, tag }) => ({ value: String(id), text: shownName(remark || tag) })),
        ]}
        choose={(inbound) => show({ ...view, inbound: inbound || undefined })}
      />
      {groups.length > 0 && (
        <Choice
          label={say('filter.group')}
          value={view.group ?? ''}
          options={[all, ...groups.map((group) => ({ value: group, text: shownName(group) }))]}
          choose={(group) => show({ ...view, group: group || undefined })}
        />
      )}
      {hasOrder && (
        <Choice
          label={say('filter.sort')}
          value={view.sort ?? ''}
          options={[
            { value: '', text: say('filter.unsorted') },
            ...SORTS.map((value) => ({ value, text: say(`sort.${value}`) })),
          ]}
          choose={(sort) =>
            show({ ...view, sort: (sort || undefined) as Sort | undefined, order: undefined })
          }
        />
      )}
    </>
  );
}

/** What is typed stays in the field; the address follows when typing rests. */
function SearchField({ view, show }: Pick<FiltersProps, 'view' | 'show'>) {
  const { say } = useReader();
  const [typed, setTyped] = useState(view.search ?? '');
  const sent = useRef(view.search ?? '');
  const latest = useRef({ view, show });
  latest.current = { view, show };
  useEffect(() => {
    // Back and forward, or a link that clears the filter.
    if ((view.search ?? '') !== sent.current) {
      sent.current = view.search ?? '';
      setTyped(sent.current);
    }
  }, [view.search]);
  useEffect(() => {
    if (typed === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = typed;
      latest.current.show({ ...latest.current.view, search: typed || undefined }, true);
    }, SEARCH_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <span className="search">
      <Search size={16} aria-hidden />
      <input
        className="input"
        type="search"
        dir="auto"
        value={typed}
        maxLength={255}
        placeholder={say('filter.search')}
        aria-label={say('filter.search')}
        onChange={({ target }) => setTyped(target.value)}
      />
    </span>
  );
}
