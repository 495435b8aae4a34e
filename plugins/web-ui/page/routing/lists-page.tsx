// Subscriptions to lists of outbounds: what came in, what did not and why.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useState } from 'react';
import { Button, Switch } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import { ConfirmSheet } from './confirm-sheet.js';
import { fetchesQuery, fetchList } from './list-fetch.js';
import { listState, type OutboundList, placeOfList } from './list-words.js';
import { listsChanged, listsQuery } from './queries.js';

const MOVES = [
  { dir: 'up', by: -1, icon: ArrowUp, text: 'routing.list.up' },
  { dir: 'down', by: 1, icon: ArrowDown, text: 'routing.list.down' },
] as const;

export function ListsPage() {
  const { say } = useReader();
  const lists = useQuery(listsQuery);
  if (lists.data === null) return <p>{say('routing.lists.absent')}</p>;
  return (
    <section className="stack" aria-labelledby="lists">
      <div className="card-head">
        <h2 id="lists">{say('routing.lists')}</h2>
        <Link to="/routing/list/new" className="button main">
          {say('routing.list.new')}
        </Link>
      </div>
      <p className="hint">{say('routing.listsAre')}</p>
      {lists.error && <Problem error={lists.error} retry={() => void lists.refetch()} />}
      {lists.isPending && <p role="status">{say('loading')}</p>}
      {lists.data?.length === 0 && <p className="muted">{say('routing.noLists')}</p>}
      <ul className="routing-list">
        {lists.data?.map((list, at, all) => (
          <Row key={list.id} list={list} isFirst={at === 0} isLast={at === all.length - 1} />
        ))}
      </ul>
    </section>
  );
}

function Row({ list, isFirst, isLast }: { list: OutboundList; isFirst: boolean; isLast: boolean }) {
  const { say, format } = useReader();
  const [isDeleting, setDeleting] = useState(false);
  const { id, enabled, remark, url, lastError, lastUpdated, version } = list;
  const name = shownName(remark || placeOfList(url));
  const fetch = useQuery(fetchesQuery).data[id];
  const change = useMutation({
    mutationFn: (on: boolean) =>
      weir.engine.updateOutboundSub({ id, body: { enabled: on } }, { ifVersion: version }),
    onError: notifyTrouble,
    onSettled: listsChanged,
  });
  const move = useMutation({
    mutationFn: (dir: string) => weir.engine.moveOutboundSub({ id, body: { dir } }, { ifVersion: version }),
    onError: notifyTrouble,
    onSettled: listsChanged,
  });
  const state = listState(list);
  // With outbounds in force, it works on.
  const isUsed = list.outboundCount > 0;
  const level = { off: undefined, waiting: undefined, good: 'good', said: isUsed ? 'warn' : 'bad' }[state];
  return (
    <li className="card">
      <div className="card-head">
        <div className="routing-name">
          <Link to="/routing/list" search={{ id: String(id) }}>
            <bdi>{name}</bdi>
          </Link>
        </div>
        <Switch
          className="switch"
          data-pending={change.isPending || undefined}
          aria-label={say('routing.list.switch', { name })}
          isSelected={change.isPending ? change.variables : enabled}
          isDisabled={change.isPending}
          onChange={(on) => change.mutate(on)}
        >
          <span className="switch-track" aria-hidden />
        </Switch>
      </div>
      {remark !== '' && (
        <p dir="ltr" className="muted routing-address">
          {shownName(placeOfList(url))}
        </p>
      )}
      <p className="routing-result" data-level={level} role="status">
        {state === 'good' && <span className="dot" aria-hidden />}
        {fetch?.isRunning
          ? say('routing.list.fetching')
          : say(`routing.list.state.${state}`, { time: format.distance(lastUpdated * 1000, Date.now()) })}
      </p>
      {state === 'said' && !fetch?.isRunning && (
        <p className="said" dir="auto">
          {lastError}
        </p>
      )}
      {fetch?.error !== undefined && lastError === '' && <Problem error={fetch.error} />}
      {state === 'said' && lastUpdated > 0 && (
        <p className="muted">
          {say('routing.list.state.good', { time: format.distance(lastUpdated * 1000, Date.now()) })}
        </p>
      )}
      <Contents list={list} />
      <div className="actions">
        <Button className="button small" isPending={fetch?.isRunning ?? false} onPress={() => fetchList(id)}>
          {say('routing.list.fetch')}
        </Button>
        {MOVES.map(({ dir, by, icon: Icon, text }) => (
          <Button
            key={dir}
            className="button small icon"
            isDisabled={move.isPending || (by < 0 ? isFirst : isLast)}
            aria-label={say(text, { name })}
            onPress={() => move.mutate(dir)}
          >
            <Icon size={16} aria-hidden />
          </Button>
        ))}
        <Button
          className="button small"
          aria-label={say('routing.deleteOf', { tag: name })}
          onPress={() => setDeleting(true)}
        >
          {say('routing.delete')}
        </Button>
      </div>
      <DeleteDialog list={list} isOpen={isDeleting} close={() => setDeleting(false)} />
    </li>
  );
}

/** What came in, and what is left out with the reason. */
function Contents({
  list: { outboundCount, outboundTags, leftOutCount, leftOut, defaultOutbound },
}: {
  list: OutboundList;
}) {
  const { say } = useReader();
  const { shown, more } = usePortion(outboundTags);
  return (
    <>
      {outboundCount > 0 && (
        <details className="fold">
          <summary>{say('routing.list.inForce', { count: outboundCount })}</summary>
          <ul className="routing-tags">
            {shown.map((tag) => (
              <li key={tag} className="tag">
                <bdi>{shownName(tag)}</bdi>
              </li>
            ))}
          </ul>
          {more}
        </details>
      )}
      {leftOutCount > 0 && (
        <details className="fold">
          <summary>{say('routing.list.leftOut', { count: leftOutCount })}</summary>
          <ul className="stack">
            {leftOut.map(({ name, reason }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries of a list may have one name
              <li key={at}>
                <strong>
                  <bdi>{shownName(name)}</bdi>
                </strong>
                <p className="said" dir="auto">
                  {reason}
                </p>
              </li>
            ))}
            {leftOut.length < leftOutCount && (
              <li className="muted">{say('routing.list.more', { count: leftOutCount - leftOut.length })}</li>
            )}
          </ul>
        </details>
      )}
      {defaultOutbound !== '' && <p>{say('routing.list.default', { tag: isolated(defaultOutbound) })}</p>}
    </>
  );
}

function DeleteDialog({ list, isOpen, close }: { list: OutboundList; isOpen: boolean; close: () => void }) {
  const { say } = useReader();
  const { id, remark, url, outboundCount } = list;
  const name = isolated(remark || placeOfList(url));
  const remove = async (): Promise<void> => {
    await weir.engine.deleteOutboundSub({ id });
    notify(say('routing.list.deleted', { name }));
    await listsChanged();
  };
  return (
    <ConfirmSheet title={say('routing.list.deleteAsk')} isOpen={isOpen} close={close} run={remove}>
      {say('routing.list.deleteCost', { name, count: outboundCount })}
    </ConfirmSheet>
  );
}
