// One balancer of the draft: what it chooses among, how, and what takes over.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import {
  allTags,
  isKnownStrategy,
  matching,
  selectorOf,
  STRATEGIES,
  strategyOf,
  withStrategy,
} from './balancer-rules.js';
import { Matches } from './balancers-page.js';
import { issuesAt } from './draft-store.js';
import { JsonField } from './json-field.js';
import { ProbesCard } from './probes-card.js';
import { draft, templateQuery } from './queries.js';
import { TagsField } from './tags-field.js';
import { type Entry, listOf, replaced, tagOf, textOf, withValueAt } from './template.js';
import { useDraftState } from './use-draft.js';

const route = getRouteApi('/admin/routing/balancer');

export function BalancerPage() {
  const { say } = useReader();
  const at = Number(route.useSearch().at);
  const state = useDraftState();
  const others = useQuery(templateQuery).data?.otherTags ?? [];
  const balancer = state && listOf(state.now, 'balancers')[at];
  const back = (
    <Link to="/routing/balancers" className="back">
      {say('routing.backToBalancers')}
    </Link>
  );
  if (!balancer)
    return (
      <>
        {back}
        <p>{say('routing.gone')}</p>
      </>
    );
  const place = `routing.balancers.${at}`;
  const problems = issuesAt(state.issues, place);
  const set = (next: Entry): void => draft.changeList('balancers', (list) => replaced(list, at, next));
  const problemOf = (name: string) => {
    const found = problems.find(({ path }) => path === name || path.startsWith(`${name}.`));
    return found ? { problem: found.message } : {};
  };
  const tag = tagOf(balancer);
  const tags = allTags(state.now, others);
  const strategy = strategyOf(balancer);
  const fallback = textOf(balancer['fallbackTag']);
  return (
    <>
      {back}
      <h2>
        <bdi>{shownName(tag) || say('routing.noTag')}</bdi>
      </h2>
      {problems
        .filter(({ path }) => path === '')
        .map(({ message }) => (
          <p key={message} className="field-problem" dir="auto">
            {message}
          </p>
        ))}
      <div className="routing-columns">
        <div className="stack">
          <Field
            label={say('routing.field.tag')}
            hint={say('routing.balancer.tagHint')}
            isPlain
            value={tag}
            maxLength={128}
            onChange={(next) => set({ ...balancer, tag: next })}
            {...problemOf('tag')}
          />
          <TagsField
            label={say('routing.balancer.selector')}
            hint={say('routing.balancer.selectorHint')}
            tags={selectorOf(balancer)}
            offered={tags}
            set={(selector) => set({ ...balancer, selector })}
            {...problemOf('selector')}
          />
          <Matches tags={matching(selectorOf(balancer), tags)} />
          <Choice
            label={say('routing.balancer.strategy')}
            value={strategy}
            options={[...new Set([...STRATEGIES, strategy])].map((value) => ({
              value,
              text: isKnownStrategy(value) ? say(`routing.strategy.${value}`) : shownName(value),
            }))}
            choose={(type) => set(withStrategy(balancer, type))}
          />
          <Choice
            label={say('routing.balancer.fallback')}
            value={fallback}
            options={[...new Set(['', ...tags, fallback])].map((value) => ({
              value,
              text: shownName(value) || say('routing.balancer.noFallback'),
            }))}
            choose={(next) => set(withValueAt(balancer, ['fallbackTag'], next || undefined) as Entry)}
          />
          <p className="hint">{say('routing.balancer.fallbackHint')}</p>
          <ProbesCard />
        </div>
        <JsonField key={place} place={place} value={balancer} set={set} problems={problems} />
      </div>
    </>
  );
}
