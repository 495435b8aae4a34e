// The hosts of each inbound, in the order of subscriptions: moved, switched, deleted.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { inboundsQuery } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { weir } from '../api/panel.js';
import { notifyTrouble } from '../parts/notices.js';
import { Permitted } from '../parts/permitted.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import type { HostGroup } from './fields.js';
import { HostRow } from './host-row.js';
import { hostSections, movedOrder } from './order.js';
import { hostsChanged, hostsQuery } from './queries.js';
import '../clients/clients.css';
import './hosts.css';

export function HostsPage() {
  const { say } = useReader();
  const hosts = useQuery(hostsQuery);
  const inbounds = useQuery(inboundsQuery);
  const failed = hosts.error ?? inbounds.error;
  const groups = hosts.data ?? [];
  const sections = hostSections(groups, inbounds.data ?? []);
  const move = useMutation({
    mutationFn: (ids: readonly string[]) => weir.hosts.reorder({ body: { ids: [...ids] } }),
    onError: notifyTrouble,
    onSettled: hostsChanged,
  });
  const places = new Map(inbounds.data?.map((one) => [one.id, one.remark || one.tag]));
  const named = (id: number): string => places.get(id) || String(id);
  /** The order is worked out when somebody moves one: each depends on all groups. */
  const mover = (groupId: string, inboundId: number, step: -1 | 1) => {
    const order = movedOrder(groups, { groupId, inboundId, step });
    if (order) move.mutate(order);
  };
  const { shown, more } = usePortion(sections, 20);
  return (
    <div className="page">
      <div className="page-head">
        <h1>{say('hosts.title')}</h1>
        <Permitted needs={['hosts:write']}>
          <Link to="/host/new" search={{ inbound: undefined }} className="button main">
            {say('hosts.new')}
          </Link>
        </Permitted>
      </div>
      <p className="hint">{say('hosts.about')}</p>
      {failed && (
        <Problem error={failed} retry={() => void Promise.all([hosts.refetch(), inbounds.refetch()])} />
      )}
      {!failed && (hosts.isPending || inbounds.isPending) && <p role="status">{say('loading')}</p>}
      {hosts.data?.length === 0 && <p className="empty">{say('hosts.none')}</p>}
      {shown.map(({ inboundId, groups: own }) => (
        <section
          key={inboundId}
          className="card"
          data-inbound={inboundId}
          aria-labelledby={`at-${inboundId}`}
        >
          <div className="card-head">
            <h2 id={`at-${inboundId}`}>
              <bdi>{shownName(named(inboundId))}</bdi>
            </h2>
            <Permitted needs={['hosts:write']}>
              <Link to="/host/new" search={{ inbound: String(inboundId) }} className="button small">
                {say('hosts.addHere')}
              </Link>
            </Permitted>
          </div>
          {own.every(({ isDisabled }) => isDisabled) && <p className="hint">{say('hosts.allOff')}</p>}
          <Rows
            inboundId={inboundId}
            groups={own}
            named={named}
            isBusy={move.isPending}
            move={(groupId, step) => mover(groupId, inboundId, step)}
          />
        </section>
      ))}
      {more}
    </div>
  );
}

interface RowsProps {
  readonly inboundId: number;
  readonly groups: readonly HostGroup[];
  readonly named: (id: number) => string;
  readonly isBusy: boolean;
  readonly move: (groupId: string, step: -1 | 1) => void;
}

function Rows({ inboundId, groups, named, isBusy, move }: RowsProps) {
  const { shown, more } = usePortion(groups, 50);
  return (
    <>
      <ol className="hosts">
        {shown.map((group, at) => (
          <HostRow
            key={group.groupId}
            group={group}
            mover={(step) =>
              isBusy || groups[at + step] === undefined ? undefined : () => move(group.groupId, step)
            }
            others={group.inboundIds.filter((id) => id !== inboundId).map(named)}
          />
        ))}
      </ol>
      {more}
    </>
  );
}
