// One rule of the draft: what it takes, and where that leaves.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import { shownName } from '../format/names.js';
import type { MessageKey } from '../language/message-key.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { issuesAt } from './draft-store.js';
import { JsonField } from './json-field.js';
import { draft, templateQuery } from './queries.js';
import { sentenceOf, targetOf, withLines, withTarget, withText } from './rule-words.js';
import { type Entry, listOf, replaced, tagOf, textOf, textsOf } from './template.js';
import { useDraftState } from './use-draft.js';

const route = getRouteApi('/admin/routing/rule');
const LINES: readonly { name: string; label: MessageKey; hint: MessageKey }[] = [
  { name: 'domain', label: 'routing.rule.domain', hint: 'routing.rule.domainHint' },
  { name: 'ip', label: 'routing.rule.ip', hint: 'routing.rule.ipHint' },
  { name: 'user', label: 'routing.rule.user', hint: 'forms.onePerLine' },
  { name: 'sourceIP', label: 'routing.rule.sourceIP', hint: 'routing.rule.ipHint' },
  { name: 'protocol', label: 'routing.rule.protocol', hint: 'routing.rule.protocolHint' },
];
const NETWORKS = ['', 'tcp', 'udp', 'tcp,udp'];

export function RulePage() {
  const { say } = useReader();
  const at = Number(route.useSearch().at);
  const state = useDraftState();
  const known = useQuery(templateQuery).data;
  const rule = state && listOf(state.now, 'rules')[at];
  const back = (
    <Link to="/routing/rules" className="back">
      {say('routing.backToRules')}
    </Link>
  );
  if (!rule)
    return (
      <>
        {back}
        <p>{say('routing.gone')}</p>
      </>
    );
  const place = `routing.rules.${at}`;
  const problems = issuesAt(state.issues, place);
  const set = (next: Entry): void => draft.changeList('rules', (list) => replaced(list, at, next));
  const problemOf = (name: string) => {
    const found = problems.find(({ path }) => path === name || path.startsWith(`${name}.`));
    return found ? { problem: found.message } : {};
  };
  const target = targetOf(rule);
  const tagsOf = (name: 'outbounds' | 'balancers') =>
    listOf(state.now, name)
      .map(tagOf)
      .filter((tag) => tag !== '');
  const targets = [
    ...[...tagsOf('outbounds'), ...(known?.otherTags ?? [])].map((tag) => ({
      value: `o${tag}`,
      text: say('routing.field.outbound', { tag: shownName(tag) }),
    })),
    ...tagsOf('balancers').map((tag) => ({
      value: `b${tag}`,
      text: say('routing.field.balancer', { tag: shownName(tag) }),
    })),
  ];
  const isKnown = targets.some(({ value }) => value === target);
  const network = textsOf(rule['network']).join(',');
  const inbounds = textsOf(rule['inboundTag']);
  const port = rule['port'];
  return (
    <>
      {back}
      <h2>{say('routing.ruleTitle', { place: at + 1 })}</h2>
      <p className="routing-sentence">{sentenceOf(rule, say)}</p>
      <div className="routing-columns">
        <div className="stack">
          <Choice
            label={say('routing.rule.target')}
            value={target}
            options={
              isKnown ? targets : [{ value: target, text: target.slice(1) || say('forms.unset') }, ...targets]
            }
            choose={(chosen) => set(withTarget(rule, chosen))}
          />
          {LINES.map(({ name, label, hint }) => (
            <Field
              key={name}
              label={say(label)}
              hint={say(hint)}
              isLong
              isPlain
              value={textsOf(rule[name]).join('\n')}
              onChange={(typed) => set(withLines(rule, name, typed))}
              {...problemOf(name)}
            />
          ))}
          <Field
            label={say('routing.rule.port')}
            hint={say('routing.rule.portHint')}
            isPlain
            value={port === undefined ? '' : String(port)}
            onChange={(typed) => set(withText(rule, 'port', typed))}
            {...problemOf('port')}
          />
          <Choice
            label={say('routing.rule.network')}
            value={network}
            options={[...new Set([...NETWORKS, network])].map((value) => ({
              value,
              text: value || say('routing.rule.anyNetwork'),
            }))}
            choose={(value) => set(withText(rule, 'network', value))}
          />
          <Inbounds
            tags={[...new Set([...(known?.inboundTags ?? []), ...inbounds])]}
            chosen={inbounds}
            choose={(tags) => set(withLines(rule, 'inboundTag', tags.join('\n')))}
          />
          <p className="hint">{say('routing.rule.moreInJson')}</p>
          {textOf(rule['ruleTag']) !== '' && <p className="muted">{shownName(textOf(rule['ruleTag']))}</p>}
        </div>
        <JsonField key={place} place={place} value={rule} set={set} problems={problems} />
      </div>
    </>
  );
}

interface InboundsProps {
  readonly tags: readonly string[];
  readonly chosen: readonly string[];
  readonly choose: (tags: string[]) => void;
}

function Inbounds({ tags, chosen, choose }: InboundsProps) {
  const { say } = useReader();
  if (tags.length === 0) return null;
  return (
    <details className="fold" open={chosen.length > 0}>
      <summary>{say('routing.rule.inbounds', { count: chosen.length })}</summary>
      <fieldset className="checks" aria-label={say('nav.inbounds')}>
        {tags.map((tag) => (
          <label key={tag}>
            <input
              type="checkbox"
              checked={chosen.includes(tag)}
              onChange={({ target }) =>
                choose(target.checked ? [...chosen, tag] : chosen.filter((one) => one !== tag))
              }
            />
            <bdi>{shownName(tag)}</bdi>
          </label>
        ))}
      </fieldset>
    </details>
  );
}
