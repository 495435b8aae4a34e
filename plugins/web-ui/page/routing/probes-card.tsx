// The probes of the template: they tell balancers which outbounds work.
import { useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import {
  allTags,
  needsProbes,
  PROBES,
  probesName,
  subjectsOf,
  unprobed,
  withProbes,
} from './balancer-rules.js';
import { draft, templateQuery } from './queries.js';
import { TagsField } from './tags-field.js';
import { listOf, type Template, textOf, valueAt, withValueAt } from './template.js';
import { useDraftState } from './use-draft.js';

export function ProbesCard() {
  const { say } = useReader();
  const state = useDraftState();
  const others = useQuery(templateQuery).data?.otherTags ?? [];
  if (!state) return null;
  const { now } = state;
  const tags = allTags(now, others);
  const name = probesName(now);
  const missing = unprobed(now, tags);
  const isNeeded = listOf(now, 'balancers').some(needsProbes);
  if (!name && !isNeeded) return null;
  const set = (path: readonly string[], value: unknown): void =>
    draft.change(withValueAt(now, path, value) as Template);
  return (
    <section className="card" aria-labelledby="probes">
      <h2 id="probes">{say('routing.probes')}</h2>
      <p className="hint">{say('routing.probes.why')}</p>
      {(missing.length > 0 || !name) && (
        <div className="problem" role="alert">
          <div>
            {missing.length > 0 && (
              <p>{say('routing.probes.missing', { tags: missing.map(isolated).join(', ') })}</p>
            )}
            <Button className="button small" onPress={() => draft.change(withProbes(now))}>
              {say(name ? 'routing.probes.extend' : 'routing.probes.add')}
            </Button>
          </div>
        </div>
      )}
      {name && (
        <>
          <TagsField
            label={say('routing.probes.subjects')}
            hint={say('routing.balancer.selectorHint')}
            tags={subjectsOf(now)}
            offered={tags}
            set={(next) => set([name, 'subjectSelector'], next)}
          />
          <Field
            label={say('routing.probes.url')}
            isPlain
            value={textOf(valueAt(now[name], PROBES[name].url))}
            onChange={(typed) => set([name, ...PROBES[name].url], typed || undefined)}
          />
          <Field
            label={say('routing.probes.interval')}
            hint={say('routing.probes.intervalHint')}
            isPlain
            value={textOf(valueAt(now[name], PROBES[name].interval))}
            onChange={(typed) => set([name, ...PROBES[name].interval], typed || undefined)}
          />
          {!isNeeded && (
            <div className="actions">
              <Button className="button" onPress={() => set([name], undefined)}>
                {say('routing.probes.remove')}
              </Button>
            </div>
          )}
        </>
      )}
    </section>
  );
}
