// What a node carries: inbounds of this panel that run there, what it does not have in force, what was left to it.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { inboundsQuery } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import { adoptionQuery, nodesChanged, refusedQuery } from './queries.js';
import type { NodeSync } from './state.js';

const MOST_SHOWN = 50;

export function Carried({ id, sync }: { id: number; sync: NodeSync | undefined }) {
  const { say, format } = useReader();
  const inbounds = useQuery(inboundsQuery);
  const carried = inbounds.data?.filter(({ nodeId }) => nodeId === id);
  const { shown, more } = usePortion(carried ?? []);
  const adoption = useQuery(adoptionQuery(id)).data;
  const reconcile = useMutation({
    mutationFn: () => weir.nodeSync.reconcile({ id }),
    onSuccess: (told) => notify(told || say('nodes.compared')),
    onError: notifyTrouble,
    onSettled: nodesChanged,
  });
  return (
    <>
      <section className="card" aria-labelledby="carried">
        <h2 id="carried">{say('nodes.carried')}</h2>
        {inbounds.error && <Problem error={inbounds.error} retry={() => void inbounds.refetch()} />}
        {carried?.length === 0 && <p className="muted">{say('nodes.carriesNothing')}</p>}
        <ul className="lines">
          {shown.map(({ id: inbound, remark, tag, protocol, port }) => (
            <li key={inbound}>
              <bdi className="clip">{shownName(remark || tag)}</bdi>
              <span className="muted" dir="ltr">
                {protocol} {port > 0 && port}
              </span>
            </li>
          ))}
        </ul>
        {more}
        {sync && (
          <>
            <p className="muted">
              {sync.pending === 0
                ? say('nodes.nothingPending')
                : say('nodes.pending', { count: sync.pending })}
              {sync.sentAt > 0 &&
                ` ${say('nodes.sentAt', { time: format.distance(sync.sentAt, Date.now()) })}`}
            </p>
            <div className="actions">
              <Button
                className="button small"
                isPending={reconcile.isPending}
                onPress={() => reconcile.mutate()}
              >
                {say('nodes.compare')}
              </Button>
            </div>
          </>
        )}
      </section>
      {sync !== undefined && sync.refused > 0 && <Refused id={id} />}
      {adoption && adoption.left.length > 0 && (
        <section className="card" aria-labelledby="left">
          <h2 id="left">{say('nodes.left')}</h2>
          <ul className="lines">
            {adoption.left.slice(0, MOST_SHOWN).map(({ kind, remoteId, name, reason }) => (
              <li key={`${kind} ${remoteId}`}>
                <bdi className="clip">{shownName(name)}</bdi>
                <bdi className="said">{reason}</bdi>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Refused({ id }: { id: number }) {
  const { say } = useReader();
  const refused = useQuery(refusedQuery(id));
  return (
    <section className="card" aria-labelledby="refused">
      <h2 id="refused">{say('nodes.refusedTitle')}</h2>
      {refused.error && <Problem error={refused.error} retry={() => void refused.refetch()} />}
      <ul className="lines">
        {refused.data?.slice(0, MOST_SHOWN).map(({ kind, id: record, reason }) => (
          <li key={`${kind} ${record}`}>
            <span dir="ltr">
              {kind} {record}
            </span>
            <bdi className="said">{reason}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}
