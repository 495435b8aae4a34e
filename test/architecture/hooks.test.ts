// A hook is a promise of its owner: it is named after it, lies where others find it, and is called by it.
import test from 'ava';
import { hooksOf } from '../../plugins/command-line/hooks.js';
import { isHook, offersOf, ownerOf } from './offers.js';
import { type Source, sourceOf, sources } from './source.js';

/** How each kind is called: by `hooks`, or in a write. */
const CALLS = {
  prepare: 'prepare',
  guard: 'check|notify',
  during: 'during',
  draft: 'compose',
  filter: 'refine',
  choose: 'choose',
  after: 'after',
  event: 'emit',
} as const;

const PROGRAM = [
  'panel/PanelProgram',
  'panel/PanelDatabase',
  'panel/PanelListener',
  'panel/PanelLog',
  'panel/SharedClock',
  'panel/PanelLeaving',
  'panel/OldestBeside',
];
const FOUNDATIONS = ['settings/SettingsSource', 'idempotency/Replays', 'access/Permits', 'cluster/Cluster'];

function brokenPromises(all: readonly Source[]): string[] {
  const live = all.filter(({ isTest }) => !isTest);
  return live.flatMap(offersOf).flatMap((offer) => {
    const owner = ownerOf(offer.path);
    // The program around the panel, which no plugin may import, is met in the contract of the plugin that needs it.
    if (offer.kind === 'token' && PROGRAM.includes(offer.id)) return [];
    // What the kernel asks of a foundation plugin is declared by the kernel, which may import none.
    if (owner === 'kernel' && FOUNDATIONS.includes(offer.id)) return [];
    if (!offer.id.startsWith(`${owner}/`))
      return [`${offer.path} declares ${offer.id}, but only ${owner} may declare what is called ${owner}/…`];
    if (!offer.id.endsWith(`/${offer.name}`) && isHook(offer))
      return [`${offer.path} calls ${offer.id} ${offer.name}; a hook has one name`];
    if (!isHook(offer)) return [];
    const called = new RegExp(`\\.(?:${CALLS[offer.kind as keyof typeof CALLS]})\\(\\s*${offer.name}\\b`);
    return live.some(({ path, code }) => ownerOf(path) === owner && called.test(code))
      ? []
      : [
          `${offer.path} declares the ${offer.kind} ${offer.id}, which ${owner} never calls; call it or take it out`,
        ];
  });
}

test('every declared hook is called by its owner and named after it', async (t) => {
  const all = await sources();
  t.true(all.flatMap(offersOf).filter(isHook).length > 20, 'hardly a hook was recognised');
  t.deepEqual(brokenPromises(all), []);
});

/** How the constant of a hook of this kind begins, where its name tells the kind. */
const NAMED: Readonly<Record<string, string>> = {
  prepare: 'prepare',
  guard: 'before',
  during: 'during',
  draft: 'compose',
  after: 'after',
};

test('the name of a hook tells its kind, and only of that kind', async (t) => {
  const hooks = (await sources())
    .filter(({ isTest }) => !isTest)
    .flatMap(offersOf)
    .filter(isHook);
  const wrong = hooks.filter(({ kind, name }) =>
    Object.entries(NAMED).some(
      ([other, begin]) => new RegExp(`^${begin}[A-Z]`).test(name) !== (other === kind),
    ),
  );
  t.deepEqual(
    wrong.map(({ id, kind }) => `${id} is a ${kind}`),
    [],
  );
});

test('every plugin lists its hooks in `hooks` of its declaration, and no others', async (t) => {
  const live = (await sources()).filter(({ path, isTest }) => !isTest && path.startsWith('plugins/'));
  const lists = new Map(
    live
      .filter(({ path }) => /^plugins\/[^/]+\/index\.ts$/.test(path))
      .map(({ path, code }) => [
        ownerOf(path),
        /^ {2}hooks: \[([^\]]*)\]/m.exec(code)?.[1]?.match(/\w+/g)?.toSorted() ?? [],
      ]),
  );
  for (const [owner, listed] of lists)
    t.deepEqual(
      listed,
      live
        .flatMap(offersOf)
        .filter((offer) => isHook(offer) && ownerOf(offer.path) === owner)
        .map(({ name }) => name)
        .sort(),
      owner,
    );
});

/** What other people's plugins stand on: these hooks are there, under these names and of these kinds. */
const PROMISED = [
  'kernel/kernelReady event',
  'kernel/beforeKernelStop guard',
  'kernel/authenticate choose',
  'access/beforeLogin guard',
  'access/loginAttempted event',
  'access/duringAdminSave during',
  'access/duringTokenSave during',
  'settings/beforeSettingsSave guard',
  'settings/duringSettingsSave during',
  'settings/afterSettingsSave after',
  'engine/composeCoreConfig draft',
  'engine/beforeCoreReload guard',
  'engine/beforeCoreStop guard',
  'engine/coreStateChanged event',
  'inbounds/prepareInboundSave prepare',
  'inbounds/beforeInboundSave guard',
  'inbounds/duringInboundSave during',
  'inbounds/afterInboundSave after',
  'clients/prepareClientSave prepare',
  'clients/beforeClientSave guard',
  'clients/beforeClientDelete guard',
  'clients/duringClientSave during',
  'clients/duringGroupSave during',
  'clients/afterClientSave after',
  'clients/clientChanged event',
  'traffic/trafficDeltas filter',
  'traffic/trafficCounted event',
  'traffic/depletionCandidates filter',
  'traffic/clientDepleted event',
  'traffic/clientRenewed event',
  'traffic/clientTrafficReset event',
  'traffic/trafficReset event',
  'subscription/beforeSubscription guard',
  'subscription/composeSubscription draft',
  'subscription/subscriptionHeaders filter',
];

test('the hooks that the contract promises are there', async (t) => {
  const there = new Set((await sources()).flatMap(offersOf).map(({ id, kind }) => `${id} ${kind}`));
  t.deepEqual(
    PROMISED.filter((hook) => !there.has(hook)),
    [],
  );
});

test('weir plugins --explain finds every declared hook with its kind, and a doc of every public one', async (t) => {
  const declared = (await sources())
    .filter(({ isTest }) => !isTest)
    .flatMap(offersOf)
    .filter(isHook);
  const owners = [...new Set(declared.map(({ id }) => id.split('/')[0] ?? ''))];
  const found = (await Promise.all(owners.map(hooksOf))).flat();
  t.deepEqual(
    found.map(({ id, kind }) => `${id} ${kind}`).sort(),
    declared
      .filter(({ path }) => /^(?:kernel|plugins)\//.test(path))
      .map(({ id, kind }) => `${id} ${kind}`)
      .sort(),
  );
  t.true(found.length > 20);
  t.deepEqual(
    found
      .filter(({ isPublic, doc }) => isPublic && doc === '')
      .map(({ id }) => `${id} has no comment above its declaration that says what it is for`),
    [],
  );
  t.deepEqual(await hooksOf('nobody-knows'), []);
});

test('the kinds of hook are all known here', async (t) => {
  const kinds = (await sources()).find(({ path }) => path === 'kernel/hooks/kinds.ts')?.code ?? '';
  t.deepEqual(
    [...kinds.matchAll(/^export type \w+<.*> = Hook<'(\w+)', /gm)].map(([, kind]) => kind).sort(),
    Object.keys(CALLS).sort(),
  );
});

test('the rule sees what it forbids', (t) => {
  const contract = sourceOf(
    'plugins/a/contract.ts',
    "export const beforeSave = guard<{ readonly f: (x: Map<string, number>) => void }>('a/beforeSave');\nexport const saved = event<number>('a/saved');",
  );
  t.deepEqual(
    offersOf(contract).map(({ kind, id }) => `${kind} ${id}`),
    ['guard a/beforeSave', 'event a/saved'],
  );
  t.is(
    brokenPromises([
      contract,
      sourceOf('plugins/a/x.ts', 'await this.#hooks.check(\n  beforeSave, {}); tx.emit(saved, 1);'),
    ]).length,
    0,
  );
  t.is(
    brokenPromises([
      contract,
      sourceOf('plugins/b/x.ts', 'hooks.check(beforeSave, {});'),
      sourceOf('plugins/a/x.ts', '// hooks.check(beforeSave)\ntx.after(saved);'),
    ]).length,
    2,
  );
  t.is(
    brokenPromises([sourceOf('plugins/b/contract.ts', "export const T = token<object>('a', 'T');")]).length,
    1,
  );
  t.is(
    brokenPromises([
      sourceOf('plugins/a/contract.ts', "export const gone = event<object>('a/went');"),
      sourceOf('plugins/a/x.ts', 'hooks.emit(gone, {});'),
    ]).length,
    1,
  );
});
