// The rules in their order: the first that fits decides.
import { Link, useNavigate } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button, Switch } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { usePortion } from '../parts/portion.js';
import { issuesAt } from './draft-store.js';
import { draft } from './queries.js';
import { RouteTest } from './route-test.js';
import { isOn, sentenceOf, withSwitch } from './rule-words.js';
import { listOf, moved, replaced, tagOf } from './template.js';
import { removed } from './removed.js';
import { useDraftState } from './use-draft.js';

const STEPS = [
  { by: -1, icon: ArrowUp, text: 'routing.up' },
  { by: 1, icon: ArrowDown, text: 'routing.down' },
] as const;
type Moved = { readonly to: number; readonly by: 1 | -1 };

export function RulesPage() {
  const { say } = useReader();
  const navigate = useNavigate();
  const state = useDraftState();
  const [last, setLast] = useState<Moved>();
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (!last) return;
    const button = (by: number) =>
      list.current?.querySelector<HTMLButtonElement>(`[data-move="${last.to} ${by}"]:not([disabled])`);
    (button(last.by) ?? button(-last.by))?.focus();
  }, [last]);
  const rules = listOf(state?.now ?? {}, 'rules');
  const { shown, more } = usePortion(rules);
  if (!state) return null;
  const isFixed = draft.hasBroken;
  const move = (from: number, by: 1 | -1): void => {
    const to = from + by;
    if (isFixed || to < 0 || to >= rules.length) return;
    draft.changeList('rules', (now) => moved(now, from, to));
    setLast({ to, by });
  };
  const add = (): void => {
    const outboundTag = tagOf(listOf(state.now, 'outbounds')[0] ?? {});
    draft.changeList('rules', (now) => [...now, { type: 'field', outboundTag }]);
    void navigate({ to: '/routing/rule', search: { at: String(rules.length) } });
  };
  return (
    <section className="stack" aria-labelledby="rules">
      <div className="card-head">
        <h2 id="rules">{say('routing.rules')}</h2>
        <Button className="button main" onPress={add}>
          {say('routing.addRule')}
        </Button>
      </div>
      <p className="hint">{say('routing.firstDecides')}</p>
      {rules.length === 0 && <p className="muted">{say('routing.noRules')}</p>}
      <ol className="routing-list" ref={list}>
        {shown.map((rule, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule has no name, and its place is what is shown
          <li key={at} className="card routing-row">
            <div className="routing-name">
              <span className="tag">{at + 1}</span>
              <Link to="/routing/rule" search={{ at: String(at) }} className="routing-sentence">
                {sentenceOf(rule, say)}
              </Link>
              {state.broken[`routing.rules.${at}`] !== undefined && (
                <span className="field-problem">{say('routing.notJson')}</span>
              )}
            </div>
            {issuesAt(state.issues, `routing.rules.${at}`).map(({ path, message }) => (
              <p key={path + message} className="field-problem" dir="auto">
                {message}
              </p>
            ))}
            <div className="actions">
              <Switch
                className="switch"
                aria-label={say('routing.ruleOn', { place: at + 1 })}
                isSelected={isOn(rule)}
                onChange={(on) => draft.changeList('rules', (now) => replaced(now, at, withSwitch(rule, on)))}
              >
                <span className="switch-track" aria-hidden />
              </Switch>
              {STEPS.map(({ by, icon: Icon, text }) => (
                <Button
                  key={by}
                  className="button small icon"
                  data-move={`${at} ${by}`}
                  isDisabled={isFixed || at + by < 0 || at + by >= rules.length}
                  aria-label={say(text, { place: at + 1 })}
                  onPress={() => move(at, by)}
                  onKeyDown={({ key }) => {
                    if (key === 'ArrowUp') move(at, -1);
                    if (key === 'ArrowDown') move(at, 1);
                  }}
                >
                  <Icon size={16} aria-hidden />
                </Button>
              ))}
              <Button
                className="button small"
                isDisabled={isFixed}
                aria-label={say('routing.deleteRule', { place: at + 1 })}
                onPress={() =>
                  removed(say, say('routing.ruleTitle', { place: at + 1 }), draft.remove('rules', at))
                }
              >
                {say('routing.delete')}
              </Button>
            </div>
          </li>
        ))}
      </ol>
      {more}
      <p role="status" className="unseen">
        {last && say('routing.movedTo', { place: last.to + 1, count: rules.length })}
      </p>
      <RouteTest />
    </section>
  );
}
