// The list of clients: filters, how many there are, the rows.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { useMay } from '../api/rights.js';
import { useIsRunning } from '../api/running.js';
import { useSingleKeys } from '../app/shortcuts.js';
import { RecentJobs } from '../jobs/recent.js';
import { usePreferences, useReader } from '../language/context.js';
import type { ClientRow } from '../live/patches.js';
import { useIsMedium, useIsNarrow } from '../parts/narrow.js';
import { Permitted } from '../parts/permitted.js';
import { Problem } from '../parts/problem.js';
import { BulkBar } from './bulk-bar.js';
import { ChooseBox } from './choose-box.js';
import { Filters } from './filters.js';
import { NewClient } from './new-client.js';
import { type Range, useClientPages } from './pages.js';
import { ALL, filterKey, NONE, type Selection, sizeOf, toggled } from './selection.js';
import { ColumnChoice } from './column-choice.js';
import { type Column, columnsOf, fitting, templateOf } from './columns.js';
import { ClientTable } from './table.js';
import { isFiltered, type View, viewOf } from './view.js';
import './clients.css';

const route = getRouteApi('/admin/clients');
/** A narrow row shows the end of a client beside its usage. */
const NARROW: Column[] = ['state', 'usage'];

export function ClientsPage() {
  const { say, format } = useReader();
  const view = route.useSearch();
  const navigate = useNavigate();
  const [range, setRange] = useState<Range>({ first: 0, last: 40 });
  const pages = useClientPages(view, range);
  const [isAdding, setAdding] = useState(false);
  /** Typing replaces the entry of the history, a choice adds one. */
  const show = useCallback(
    (next: View, isTyping = false) => void navigate({ to: '/clients', search: next, replace: isTyping }),
    [navigate],
  );
  const mayWrite = useMay()('clients:write');
  const act = useCallback(
    (key: string): boolean => {
      const isNew = key === 'n' && mayWrite;
      if (isNew) setAdding(true);
      return isNew;
    },
    [mayWrite],
  );
  useSingleKeys(act);
  const { clientColumns } = usePreferences();
  const [isNarrow, isMedium] = [useIsNarrow(), useIsMedium()];
  const chosenColumns = useMemo(() => columnsOf(clientColumns), [clientColumns]);
  const columns = useMemo(
    () => (isNarrow ? NARROW : fitting(chosenColumns, isMedium)),
    [chosenColumns, isNarrow, isMedium],
  );
  const { count, total } = pages;
  const hasJobs = useIsRunning()('bulk-jobs') && mayWrite;
  // A selection belongs to a filter; another order keeps it.
  const filter = filterKey(view);
  const [chosen, setChosen] = useState({ filter, selection: NONE });
  const selection = chosen.filter === filter ? chosen.selection : NONE;
  const select = (next: Selection): void => setChosen({ filter, selection: next });
  const toggle = useCallback(
    (client: ClientRow) =>
      setChosen((now) => ({
        filter,
        selection: toggled(now.filter === filter ? now.selection : NONE, client),
      })),
    [filter],
  );
  const size = sizeOf(selection, count ?? 0);
  return (
    <div className="page clients">
      <div className="page-head">
        <h1>{say('clients.title')}</h1>
        <Permitted needs={['clients:write']}>
          <Button className="button main" onPress={() => setAdding(true)}>
            <Plus size={20} aria-hidden />
            {say('clients.new')}
          </Button>
        </Permitted>
      </div>
      <Filters view={view} show={show} groups={pages.groups} />
      {hasJobs && <RecentJobs />}
      <div className="list-head">
        {hasJobs && count !== undefined && count > 0 && (
          <ChooseBox
            label={say('bulk.all', { count })}
            text={say('bulk.all', { count })}
            isChosen={size === count}
            isPartly={size > 0 && size < count}
            toggle={() => select(size === count ? NONE : ALL)}
          />
        )}
        <p className="muted" role="status">
          {count === undefined ? say('loading') : say('clients.count', { shown: count, all: total ?? count })}
        </p>
        {pages.isMoved && (
          <Button className="button small" onPress={pages.resort}>
            {say('clients.moved')}
          </Button>
        )}
        {!isNarrow && <ColumnChoice columns={chosenColumns} />}
      </div>
      {hasJobs && size > 0 && (
        <BulkBar view={view} selection={selection} count={count ?? 0} clear={() => select(NONE)} />
      )}
      {pages.error !== null && pages.error !== undefined && (
        <Problem error={pages.error} retry={pages.retry} />
      )}
      {count === 0 ? (
        <Empty isFiltered={isFiltered(view)} clear={() => show(viewOf({}))} add={() => setAdding(true)} />
      ) : (
        count !== undefined && (
          <ClientTable
            view={view}
            columns={columns}
            template={templateOf(columns, isMedium)}
            count={count}
            row={pages.row}
            sort={show}
            show={setRange}
            selection={hasJobs ? selection : undefined}
            toggle={toggle}
            label={say('clients.label', { count: format.number(count) })}
          />
        )
      )}
      <NewClient isOpen={isAdding} close={() => setAdding(false)} />
    </div>
  );
}

function Empty({
  isFiltered: filtered,
  clear,
  add,
}: {
  isFiltered: boolean;
  clear: () => void;
  add: () => void;
}) {
  const { say } = useReader();
  return (
    <div className="empty">
      <p>{say(filtered ? 'clients.noMatch' : 'clients.none')}</p>
      <Permitted needs={filtered ? [] : ['clients:write']}>
        <Button className="button" onPress={filtered ? clear : add}>
          {say(filtered ? 'clients.clear' : 'clients.new')}
        </Button>
      </Permitted>
    </div>
  );
}
