// `weir plugins`: lists the enabled plugins, and which plugin taps which hook.
import {
  bool,
  command,
  type Command,
  didYouMean,
  optional,
  type PluginsApi,
  Refusal,
  text,
} from '../../kernel/index.js';
import type { PanelProgramApi } from '../system/contract.js';
import { table } from './help.js';
import { type HookDeclaration, hooksOf } from './hooks.js';

/** What each kind of hook guarantees to its taps. */
const PROMISES: Readonly<Record<string, string>> = {
  prepare:
    'awaited one after another, before rules are checked; each may complete or normalise the input, and may refuse',
  guard: 'awaited one after another, before anything is written; a tap that refuses ends the operation',
  during:
    'awaited one after another, inside the transaction; writes tables of its own, and a failure rolls everything back',
  draft: 'awaited one after another; each adds entries; the entries of a failing one are removed',
  filter:
    'called one after another, each with the result of the previous one; the result of a failing one is ignored',
  choose: 'awaited one after another until one returns an answer',
  after: 'awaited in the order of the commits, after each of them; they cannot refuse',
  event: 'queued for each plugin; cannot delay or harm others',
};

interface Present {
  readonly plugin: string;
  readonly stage: number;
  readonly strict: boolean;
}
interface Hook extends HookDeclaration {
  /** in the order of their calls */
  readonly taps: readonly Present[];
}

async function hooks(plugins: PluginsApi): Promise<Hook[]> {
  const owners = ['kernel', ...plugins.list().map(({ name }) => name)];
  const declared = new Map((await Promise.all(owners.map(hooksOf))).flat().map((hook) => [hook.id, hook]));
  const ownerOf = (id: string): string => id.split('/')[0] ?? '';
  const add = ({ id, kind }: { readonly id: string; readonly kind: string }): void => {
    if (!declared.has(id)) declared.set(id, { id, kind, owner: ownerOf(id), doc: '', isPublic: true });
  };
  plugins.hooks().forEach(add);
  const taps = new Map<string, Present[]>();
  for (const { plugin, hook, options } of plugins.taps()) {
    const { id } = hook;
    add(hook);
    taps.set(id, [
      ...(taps.get(id) ?? []),
      { plugin, stage: options.stage ?? 0, strict: options.strict ?? false },
    ]);
  }
  return [...declared.values()]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((hook) => ({ ...hook, taps: (taps.get(hook.id) ?? []).sort((a, b) => a.stage - b.stage) }));
}

function find(all: readonly Hook[], wanted: string): Hook {
  const named = all.filter(({ id }) => id === wanted || id.endsWith(`/${wanted}`));
  const [only] = named;
  if (only && named.length === 1) return only;
  if (named.length > 1)
    throw new Refusal(`several hooks are called ${wanted}: ${named.map(({ id }) => id).join(', ')}`);
  const names = all.map(({ id }) => id);
  const short = wanted.includes('/') ? names : names.map((id) => id.split('/')[1] ?? id);
  throw new Refusal(
    `there is no hook ${wanted}${didYouMean(wanted, short, '; weir plugins --explain lists all of them')}`,
  );
}

function explain({ id, kind, owner, doc, isPublic, taps }: Hook, plugins: PluginsApi): string {
  const states = new Map(plugins.list().map(({ name, state }) => [name, state]));
  const state = owner === 'kernel' ? 'running' : (states.get(owner) ?? 'disabled, so it is never called');
  const rows = taps.map(({ plugin, stage, strict }, i): [string, string] => [
    `${i + 1}. ${plugin}`,
    [
      `stage ${stage}`,
      ...(strict ? ['strict: its failure fails the operation'] : []),
      ...(states.get(plugin) === 'faulty'
        ? [
            kind === 'after'
              ? 'switched off after repeated faults'
              : 'switched off after repeated faults: skipped',
          ]
        : []),
    ].join(', '),
  ]);
  return [
    `${id}, ${/^[ae]/.test(kind) ? 'an' : 'a'} ${kind} of ${owner} (${state})`,
    `  ${doc || (isPublic ? 'Its owner has not documented it.' : 'It is not documented.')}${isPublic ? '' : ' Private to this plugin: it may change with any release.'}`,
    `  It is ${PROMISES[kind]}.`,
    rows.length > 0 ? `Called in this order:\n${table(rows)}` : 'No plugin taps it.',
  ].join('\n');
}

const listed = (all: readonly Hook[]): string =>
  table(
    all.map(({ id, kind, isPublic, taps }) => [
      `${id}`,
      `${kind.padEnd(7)}  ${taps.map(({ plugin }) => plugin).join(', ') || '–'}${isPublic ? '' : '  (private)'}`,
    ]),
  );

export const pluginsCommand = (plugins: PluginsApi, program?: Pick<PanelProgramApi, 'listed'>): Command =>
  command({
    name: 'plugins',
    about:
      'Lists the enabled plugins, with the reason if one is not running; or shows which plugins tap a hook.',
    options: {
      explain: optional(
        text().description(
          'hook to explain: its owner, its purpose, its taps in order; without a name, lists all hooks',
        ),
      ),
      json: optional(bool().description('print the list of plugins as JSON')),
    },
    example: 'weir plugins --explain clients/beforeClientSave',
    run: async ({ options: { explain: wanted, json }, say }) => {
      if (wanted === '') say(listed(await hooks(plugins)));
      else if (wanted !== undefined) say(explain(find(await hooks(plugins), wanted), plugins));
      else {
        const states = plugins.list();
        const all = program ? await program.listed(states) : states;
        if (json) return say(JSON.stringify(all));
        for (const { name, version, state, about, reason } of all)
          say(`${name.padEnd(18)} ${version.padEnd(8)} ${state.padEnd(8)} ${reason || about}`);
      }
    },
  });
