// What a balancer of the running core does now, and the outbound that it is told to use.
import { useMutation, useQuery } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { usePortion } from '../parts/portion.js';
import { balancersQuery, probesQuery } from './queries.js';

interface BalancerLiveProps {
  readonly tag: string;
  /** tags among which it chooses */
  readonly choices: readonly string[];
}

/** The outbound that it is told to use, and the one before; blank for its own choice. */
interface Told {
  readonly target: string;
  readonly before: string;
}

export function BalancerLive({ tag, choices }: BalancerLiveProps) {
  const { say } = useReader();
  const live = useQuery(balancersQuery).data?.[tag];
  const change = useMutation({
    mutationFn: ({ target }: Told) => weir.engine.balancerOverride({ body: { tag, target } }),
    onSuccess: (_, { target, before }) => {
      const name = isolated(tag);
      notify(
        target === ''
          ? say('routing.balancer.freed', { name })
          : say('routing.balancer.overridden', { name, tag: isolated(target) }),
        before !== target
          ? { text: say('undo'), run: () => change.mutate({ target: before, before: target }) }
          : undefined,
      );
    },
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: balancersQuery.queryKey }),
  });
  const { shown, more } = usePortion(live?.selected ?? []);
  if (!live) return null;
  if (!live.running) return <p className="muted">{say('routing.balancer.notRunning')}</p>;
  const override = change.isPending ? change.variables.target : live.override;
  return (
    <div className="stack">
      <ul className="routing-tags">
        {shown.map((one) => (
          <li key={one}>
            <Probed tag={one} />
          </li>
        ))}
      </ul>
      {more}
      <Choice
        label={say('routing.balancer.override', { name: isolated(tag) })}
        value={override}
        options={['', ...new Set([...choices, ...(override ? [override] : [])])].map((value) => ({
          value,
          text: shownName(value) || say('routing.balancer.byItself'),
        }))}
        choose={(target) => !change.isPending && change.mutate({ target, before: live.override })}
      />
      <p className="hint">{say('routing.balancer.overrideHint')}</p>
    </div>
  );
}

/** An outbound with its last probe. */
function Probed({ tag }: { tag: string }) {
  const { say, format } = useReader();
  const probe = useQuery(probesQuery).data?.find((one) => one.tag === tag);
  return (
    <span className="routing-result" data-level={probe && (probe.alive ? 'good' : 'bad')}>
      {probe && <span className="dot" aria-hidden />} <bdi>{shownName(tag)}</bdi>{' '}
      {probe &&
        (probe.alive
          ? say('routing.probe.alive', { ms: format.number(probe.delay) })
          : say('routing.probe.dead'))}
    </span>
  );
}
