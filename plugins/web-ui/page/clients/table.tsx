// The rows of the list: only those on the screen are there, whatever their number. Arrows, j and k go from row to row.
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type CSSProperties, type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react';
import { useSingleKeys } from '../app/shortcuts.js';
import { useReader } from '../language/context.js';
import type { ClientRow } from '../live/patches.js';
import { useIsNarrow } from '../parts/narrow.js';
import { type Column, COLUMNS } from './columns.js';
import { keyTarget } from './key-target.js';
import type { Range } from './pages.js';
import { Row, RowSkeleton } from './row.js';
import { isChosen, type Selection } from './selection.js';
import { type Sort, sortedBy, type View } from './view.js';

const ROW = { wide: 44, narrow: 84 } as const;

export interface ClientTableProps {
  readonly view: View;
  readonly columns: readonly Column[];
  /** `grid-template-columns` of a row, where the page is not narrow */
  readonly template: string;
  readonly count: number;
  readonly row: (index: number) => ClientRow | undefined;
  readonly sort: (view: View) => void;
  readonly show: (range: Range) => void;
  readonly label: string;
  /** undefined where clients cannot be chosen */
  readonly selection: Selection | undefined;
  readonly toggle: (client: ClientRow) => void;
}

export function ClientTable(props: ClientTableProps) {
  const { view, columns, template, count, row, sort, show, label, selection, toggle } = props;
  const { say } = useReader();
  const navigate = useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const isNarrow = useIsNarrow();
  const height = isNarrow ? ROW.narrow : ROW.wide;
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 6,
    useFlushSync: false,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height
  useEffect(() => rows.measure(), [height]);
  // Another view begins at its top. The rows stay, and get other clients: to make them again blocks typing.
  const shownView = JSON.stringify(view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view
  useEffect(() => {
    setCurrent(0);
    if (scroller.current) scroller.current.scrollTop = 0;
  }, [shownView]);
  const items = rows.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => show({ first, last }), [first, last, show]);

  const go = useCallback(
    (index: number): void => {
      const target = Math.min(count - 1, Math.max(0, index));
      setCurrent(target);
      rows.scrollToIndex(target);
      // The row may be made only now.
      requestAnimationFrame(() =>
        requestAnimationFrame(() =>
          scroller.current
            ?.querySelector<HTMLElement>(`[data-index="${target}"]`)
            ?.focus({ preventScroll: true }),
        ),
      );
    },
    [count, rows],
  );
  const act = useCallback(
    (key: string): boolean => {
      const chosen = row(current);
      if (key === 'j') go(current + 1);
      else if (key === 'k') go(current - 1);
      else if (key === 'e' && chosen)
        void navigate({ to: '/client', search: { name: chosen.email, edit: '1' } });
      else if (key === 'x' && chosen && selection) toggle(chosen);
      else return false;
      return true;
    },
    [current, go, navigate, row, selection, toggle],
  );
  useSingleKeys(act);

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const isRow = (event.target as Element).getAttribute('role') === 'row';
    const chosen = row(current);
    if (isRow && event.key === 'Enter' && chosen)
      void navigate({ to: '/client', search: { name: chosen.email, edit: undefined } });
    else {
      const screen = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1);
      const target = isRow ? keyTarget(event.key, current, count, screen) : undefined;
      if (target === undefined) return;
      go(target);
    }
    event.preventDefault();
  };

  return (
    <div
      className="table"
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      style={{ '--columns': template } as CSSProperties}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="table-head">
        <div role="row" aria-rowindex={1} className="row head" tabIndex={-1}>
          <Head column="email" by="email" view={view} sort={sort} />
          {columns.map((column) => {
            const { [column]: facts } = COLUMNS;
            return (
              <Head
                key={column}
                column={column}
                by={'sort' in facts ? facts.sort : undefined}
                view={view}
                sort={sort}
              />
            );
          })}
          <div role="columnheader" className="cell acts">
            <span className="unseen">{say('column.acts')}</span>
          </div>
        </div>
      </div>
      <div className="scroller" ref={scroller} role="presentation">
        <div role="rowgroup" className="rows" style={{ height: rows.getTotalSize() }}>
          {items.map((item) => {
            const client = row(item.index);
            const place = {
              index: item.index,
              start: item.start,
              height,
              isCurrent: item.index === Math.min(current, count - 1),
              enter: setCurrent,
              isChosen: selection && client && isChosen(selection, client.id),
            };
            return client ? (
              <Row key={item.key} client={client} columns={columns} place={place} toggle={toggle} />
            ) : (
              <RowSkeleton key={item.key} place={place} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface HeadProps extends Pick<ClientTableProps, 'view' | 'sort'> {
  readonly column: Column | 'email';
  /** undefined where the list cannot be sorted by it */
  readonly by: Sort | undefined;
}

function Head({ column, by, view, sort }: HeadProps) {
  const { say } = useReader();
  const isSorted = by !== undefined && view.sort === by;
  return (
    <div
      role="columnheader"
      className={`cell ${column}`}
      aria-sort={isSorted ? (view.order ? 'descending' : 'ascending') : undefined}
    >
      {by ? (
        <button type="button" className="sort" onClick={() => sort(sortedBy(view, by))}>
          {say(`column.${column}`)}
          {isSorted && (view.order ? <ArrowDown size={16} aria-hidden /> : <ArrowUp size={16} aria-hidden />)}
        </button>
      ) : (
        say(`column.${column}`)
      )}
    </div>
  );
}
