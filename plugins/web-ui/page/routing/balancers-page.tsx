// Balancers of the draft, beside each what the running core does with it.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { allTags, isKnownStrategy, matching, rulesTo, selectorOf, strategyOf } from './balancer-rules.js';
import { BalancerLive } from './balancer-live.js';
import { issuesAt } from './draft-store.js';
import { ProbesCard } from './probes-card.js';
import { draft, templateQuery } from './queries.js';
import { removed } from './removed.js';
import { freeTag, listOf, tagOf } from './template.js';
import { useDraftState } from './use-draft.js';

export function BalancersPage() {
  const { say } = useReader();
  const navigate = useNavigate();
  const state = useDraftState();
  const others = useQuery(templateQuery).data?.otherTags ?? [];
  if (!state) return null;
  const list = listOf(state.now, 'balancers');
  const tags = allTags(state.now, others);
  const isFixed = draft.hasBroken;
  const add = (): void => {
    draft.changeList('balancers', (now) => [...now, { tag: freeTag(now, 'balancer'), selector: [] }]);
    void navigate({ to: '/routing/balancer', search: { at: String(list.length) } });
  };
  return (
    <section className="stack" aria-labelledby="balancers">
      <div className="card-head">
        <h2 id="balancers">{say('routing.balancers')}</h2>
        <Button className="button main" onPress={add}>
          {say('routing.addBalancer')}
        </Button>
      </div>
      <p className="hint">{say('routing.balancersAre')}</p>
      {list.length === 0 && <p className="muted">{say('routing.noBalancers')}</p>}
      <ul className="routing-list">
        {list.map((balancer, at) => {
          const tag = tagOf(balancer);
          const name = shownName(tag) || say('routing.noTag');
          const matches = matching(selectorOf(balancer), tags);
          const strategy = strategyOf(balancer);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: tags may be blank or twice while they are typed
            <li key={`${at} ${tag}`} className="card">
              <div className="card-head">
                <div className="routing-name">
                  <Link to="/routing/balancer" search={{ at: String(at) }}>
                    <bdi>{name}</bdi>
                  </Link>
                  <span className="tag">
                    {isKnownStrategy(strategy) ? say(`routing.strategy.${strategy}`) : shownName(strategy)}
                  </span>
                  {state.broken[`routing.balancers.${at}`] !== undefined && (
                    <span className="field-problem">{say('routing.notJson')}</span>
                  )}
                </div>
                <Button
                  className="button small"
                  isDisabled={isFixed}
                  aria-label={say('routing.deleteOf', { tag: name })}
                  onPress={() =>
                    removed(
                      say,
                      say('routing.field.balancer', { tag: isolated(tag) }),
                      draft.remove('balancers', at),
                    )
                  }
                >
                  {say('routing.delete')}
                </Button>
              </div>
              <Matches tags={matches} />
              <p className="muted">{say('routing.balancer.usedBy', { count: rulesTo(state.now, tag) })}</p>
              {issuesAt(state.issues, `routing.balancers.${at}`).map(({ path, message }) => (
                <p key={path + message} className="field-problem" dir="auto">
                  {message}
                </p>
              ))}
              <BalancerLive tag={tag} choices={matches} />
            </li>
          );
        })}
      </ul>
      <ProbesCard />
    </section>
  );
}

const MOST = 20;

export function Matches({ tags }: { tags: readonly string[] }) {
  const { say } = useReader();
  if (tags.length === 0) return <p className="field-problem">{say('routing.balancer.matchesNone')}</p>;
  const shown = [...tags.slice(0, MOST).map(isolated), ...(tags.length > MOST ? ['…'] : [])];
  return <p>{say('routing.balancer.matches', { count: tags.length, tags: shown.join(', ') })}</p>;
}
