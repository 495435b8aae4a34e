// Who changed what, the newest change first; what can be undone is undone here.
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { AuditChange } from './audit-change.js';
import { AuditFilters } from './audit-filters.js';
import { auditQueryOf, PAGE_SIZE } from './audit-query.js';
import { type AuditView, isFiltered } from './audit-view.js';
import './audit.css';

const route = getRouteApi('/admin/system/audit');

export function AuditPage() {
  const { say, format } = useReader();
  const view = route.useSearch();
  const navigate = useNavigate();
  const show = (next: AuditView): void => void navigate({ to: '/system/audit', search: next });
  const key = JSON.stringify(view);
  /** Hours are counted back from one moment: all pages begin at the same one. */
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view, another moment
  const now = useMemo(() => Date.now(), [key]);
  const zone = format.timeZone;
  const changes = useInfiniteQuery({
    queryKey: ['audit', key, now, zone],
    queryFn: ({ pageParam, signal }) =>
      weir.audit.changes({ query: auditQueryOf(view, { now, zone }, pageParam) }, { signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (last) => (last.length < PAGE_SIZE ? undefined : last.at(-1)?.id),
    staleTime: 0,
  });
  const all = changes.data?.pages.flat() ?? [];
  return (
    <div className="stack">
      <AuditFilters key={key} view={view} show={show} />
      <div className="audit-head">
        <p className="muted" role="status">
          {changes.isPending && !changes.error && say('loading')}
          {changes.data && all.length > 0 && say('audit.count', { count: all.length })}
          {changes.data && all.length === 0 && say(isFiltered(view) ? 'audit.noMatch' : 'audit.none')}
        </p>
        <Button
          className="button small"
          isPending={changes.isFetching && !changes.isFetchingNextPage}
          onPress={() => void changes.refetch()}
        >
          {say('audit.renew')}
        </Button>
      </div>
      {all.length > 0 && (
        <ol className="audit-list">
          {all.map((change, index) => (
            <AuditChange
              key={change.id}
              change={change}
              isFirst={all[index - 1]?.entry !== change.entry}
              isLast={all[index + 1]?.entry !== change.entry}
            />
          ))}
        </ol>
      )}
      {changes.error && <Problem error={changes.error} retry={() => void changes.refetch()} />}
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
