// The outbounds of the template: the first takes what no rule takes.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { usePortion } from '../parts/portion.js';
import { issuesAt } from './draft-store.js';
import { FromLink } from './from-link.js';
import { addressOf, KINDS } from './outbound-kinds.js';
import { TestAllButton, TestButton, TestResult } from './outbound-test.js';
import { draft, outboundTrafficQuery, templateQuery, testsQuery } from './queries.js';
import { type Entry, freeTag, listOf, moved, tagOf, textOf } from './template.js';
import { removed } from './removed.js';
import { useDraftState } from './use-draft.js';

/** Of the tags that lists and plugins add. */
const MOST_OTHERS = 100;

export function OutboundsPage() {
  const { say } = useReader();
  const state = useDraftState();
  const otherTags = useQuery(templateQuery).data?.otherTags ?? [];
  const traffic = useQuery(outboundTrafficQuery).data;
  const tests = useQuery(testsQuery).data;
  const list = listOf(state?.now ?? {}, 'outbounds');
  const { shown, more } = usePortion(list);
  if (!state) return null;
  const byTag = new Map(traffic?.map((row) => [row.tag, row]));
  const isFixed = draft.hasBroken;
  return (
    <section className="stack" aria-labelledby="outbounds">
      <div className="card-head">
        <h2 id="outbounds">{say('routing.outbounds')}</h2>
        <TestAllButton outbounds={list} />
      </div>
      <p className="hint">{say('routing.firstIsDefault')}</p>
      <ul className="routing-list">
        {shown.map((outbound, at) => {
          const tag = tagOf(outbound);
          const name = shownName(tag) || say('routing.noTag');
          const moves = byTag.get(tag);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: tags may be blank or twice while they are typed
            <li key={`${at} ${tag}`} className="card routing-row">
              <div className="routing-name">
                <Link to="/routing/outbound" search={{ at: String(at) }}>
                  <bdi>{name}</bdi>
                </Link>
                {at === 0 && <span className="tag">{say('routing.default')}</span>}
                {state.broken[`outbounds.${at}`] !== undefined && (
                  <span className="field-problem">{say('routing.notJson')}</span>
                )}
              </div>
              <span dir="ltr" className="routing-address">
                {shownName(textOf(outbound['protocol']))} {shownName(addressOf(outbound))}
              </span>
              <Traffic moves={moves} />
              <TestResult outbound={outbound} tested={tests[tag]} />
              {issuesAt(state.issues, `outbounds.${at}`).map(({ path, message }) => (
                <p key={path + message} className="field-problem" dir="auto">
                  {message}
                </p>
              ))}
              <div className="actions">
                <TestButton outbound={outbound} />
                {at > 0 && (
                  <Button
                    className="button small"
                    isDisabled={isFixed}
                    aria-label={say('routing.makeDefaultOf', { tag: name })}
                    onPress={() => draft.changeList('outbounds', (now) => moved(now, at, 0))}
                  >
                    {say('routing.makeDefault')}
                  </Button>
                )}
                <Button
                  className="button small"
                  isDisabled={isFixed}
                  aria-label={say('routing.deleteOf', { tag: name })}
                  onPress={() =>
                    removed(
                      say,
                      say('routing.field.outbound', { tag: isolated(tag) }),
                      draft.remove('outbounds', at),
                    )
                  }
                >
                  {say('routing.delete')}
                </Button>
              </div>
            </li>
          );
        })}
      </ul>
      {more}
      {list.length === 0 && <p className="muted">{say('routing.noOutbounds')}</p>}
      <NewOutbound list={list} />
      {otherTags.length > 0 && (
        <p className="muted">
          {say('routing.otherTags')}{' '}
          <bdi dir="ltr">{otherTags.slice(0, MOST_OTHERS).map(shownName).join(', ')}</bdi>
          {otherTags.length > MOST_OTHERS && ' …'}
        </p>
      )}
    </section>
  );
}

function Traffic({ moves }: { moves: { up: number; down: number } | undefined }) {
  const { say, format } = useReader();
  if (!moves) return null;
  return (
    <span className="muted">
      {say('inbounds.moved', { up: format.bytes(moves.up), down: format.bytes(moves.down) })}
    </span>
  );
}

const OTHER = 'json';

function NewOutbound({ list }: { list: readonly Entry[] }) {
  const { say } = useReader();
  const navigate = useNavigate();
  const [protocol, setProtocol] = useState('freedom');
  const add = (): void => {
    const { initial = {} } = KINDS[protocol] ?? {};
    const tag = freeTag(list, protocol === OTHER ? 'outbound' : protocol);
    const outbound = { tag, protocol: protocol === OTHER ? '' : protocol, ...initial };
    draft.changeList('outbounds', (now) => [...now, outbound]);
    void navigate({ to: '/routing/outbound', search: { at: String(list.length) } });
  };
  return (
    <div className="actions routing-new">
      <Choice
        label={say('routing.field.protocol')}
        value={protocol}
        options={[
          ...Object.keys(KINDS).map((name) => ({ value: name, text: name })),
          { value: OTHER, text: say('routing.otherProtocol') },
        ]}
        choose={setProtocol}
      />
      <Button className="button main" onPress={add}>
        {say('routing.addOutbound')}
      </Button>
      <FromLink />
    </div>
  );
}
