// One outbound of the draft: fields of the common protocols, and all of it as JSON.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import { shownName } from '../format/names.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { issuesAt } from './draft-store.js';
import { JsonField } from './json-field.js';
import { fieldValue, isAt, kindOf, type OutboundField, withField } from './outbound-kinds.js';
import { TestButton, TestResult } from './outbound-test.js';
import { draft, testsQuery } from './queries.js';
import { type Entry, listOf, replaced, tagOf, textOf } from './template.js';
import { useDraftState } from './use-draft.js';

const route = getRouteApi('/admin/routing/outbound');

export function OutboundPage() {
  const { say } = useReader();
  const at = Number(route.useSearch().at);
  const state = useDraftState();
  const tests = useQuery(testsQuery).data;
  const outbound = state && listOf(state.now, 'outbounds')[at];
  const back = (
    <Link to="/routing/outbounds" className="back">
      {say('routing.backToOutbounds')}
    </Link>
  );
  if (!outbound)
    return (
      <>
        {back}
        <p>{say('routing.gone')}</p>
      </>
    );
  const place = `outbounds.${at}`;
  const problems = issuesAt(state.issues, place);
  const set = (next: Entry): void => draft.changeList('outbounds', (list) => replaced(list, at, next));
  const tag = tagOf(outbound);
  const protocol = textOf(outbound['protocol']);
  const kind = kindOf(outbound);
  const problemOf = (matches: (path: string) => boolean) => {
    const found = problems.find(({ path }) => matches(path));
    return found ? { problem: found.message } : {};
  };
  const input = (field: OutboundField) => {
    const value = fieldValue(outbound, field);
    const text = value === undefined ? '' : String(value);
    return field.input === 'choice' ? (
      <Choice
        key={field.label}
        label={say(field.label)}
        value={text}
        options={[...new Set(['', ...(field.options ?? []), text])].map((option) => ({
          value: option,
          text: option || say('forms.unset'),
        }))}
        choose={(chosen) => set(withField(outbound, field, chosen))}
      />
    ) : (
      <Field
        key={field.label}
        label={say(field.label)}
        isPlain
        autoComplete="off"
        {...(field.input === 'number' && { inputMode: 'numeric' as const })}
        value={text}
        onChange={(typed) => set(withField(outbound, field, typed))}
        {...problemOf((path) => isAt(outbound, field, path))}
      />
    );
  };
  return (
    <>
      {back}
      <h2>
        <bdi>{shownName(tag) || say('routing.noTag')}</bdi>
      </h2>
      <div className="routing-columns">
        <div className="stack">
          <Field
            label={say('routing.field.tag')}
            hint={say('routing.field.tagHint')}
            isPlain
            value={tag}
            maxLength={128}
            onChange={(next) => set({ ...outbound, tag: next })}
            {...problemOf((path) => path === 'tag')}
          />
          <p className="muted">
            {say('routing.field.protocol')}: <bdi dir="ltr">{shownName(protocol)}</bdi>
          </p>
          {kind ? kind.fields.map(input) : <p className="hint">{say('routing.jsonOnly')}</p>}
          {kind?.servers && <p className="hint">{say('routing.moreInJson')}</p>}
          <TestResult outbound={outbound} tested={tests[tag]} />
          <div className="actions">
            <TestButton outbound={outbound} />
          </div>
        </div>
        <JsonField key={place} place={place} value={outbound} set={set} problems={problems} />
      </div>
    </>
  );
}
