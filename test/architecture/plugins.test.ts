// Every plugin is a folder with a door, a name and a page for people, and the page is true.
import test from 'ava';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { type Offer, offersOf, settingsOf, tapsOf } from './offers.js';
import { listedOffers, listedRoutes, listedSettings, listedTaps } from './readme.js';
import { filesOf, pluginOf, type Source, sourceOf, sources } from './source.js';

/** Folders under plugins/ with their sources and README. */
async function plugins(): Promise<{ name: string; readme: string | undefined; all: Source[] }[]> {
  const readmes = new Map((await filesOf('README.md')).map(({ path, text }) => [path, text]));
  const all = await sources();
  const names = [...new Set(all.map(({ path }) => pluginOf(path)).filter((name) => name !== undefined))];
  return names.map((name) => ({
    name,
    readme: readmes.get(`plugins/${name}/README.md`),
    all: all.filter(({ path }) => pluginOf(path) === name),
  }));
}

const isPublic = ({ path }: Offer): boolean => path.endsWith('/contract.ts');

/** Where the README of a plugin says something else than its sources. */
function untruths(name: string, readme: string, all: readonly Source[]): string[] {
  const page = `plugins/${name}/README.md`;
  const own = all.filter(({ isTest }) => !isTest);
  const declared = own.flatMap(offersOf);
  const settings = own.flatMap(settingsOf);
  const taps = own.flatMap(tapsOf);
  return [
    ...listedOffers(readme)
      .filter((listed) => !declared.some((offer) => offer.name === listed.name && offer.kind === listed.kind))
      .map(
        ({ kind, name: offer }) => `${page} offers the ${kind} ${offer}, which the plugin does not declare`,
      ),
    ...declared
      .filter(isPublic)
      .filter((offer) => !readme.includes(`\`${offer.name}\``))
      .map(
        ({ kind, name: offer }) => `${page} does not tell of the ${kind} ${offer} in the plugin's contract`,
      ),
    ...listedTaps(readme)
      .filter((tap) => !taps.includes(tap))
      .map((tap) => `${page} says that it taps ${tap}, which it does not`),
    ...listedSettings(readme)
      .filter((setting) => !settings.includes(setting))
      .map((setting) => `${page} lists the setting ${setting}, which the plugin does not declare`),
    ...settings
      .filter((setting) => !readme.includes(`\`${setting}\``))
      .map((setting) => `${page} does not tell of the setting ${setting}`),
  ];
}

test('every plugin has a door, a README and the name of its folder', async (t) => {
  const found = await plugins();
  t.true(found.length >= 9, 'the plugins were not found');
  for (const { name, readme, all } of found) {
    t.not(readme, undefined, `plugins/${name}/README.md is missing: every plugin tells people what it does`);
    const door = all.find(({ path }) => path === `plugins/${name}/index.ts`);
    t.not(door, undefined, `plugins/${name}/index.ts is missing: a plugin is entered there`);
    const called = /definePlugin\(\{\s*name: '([^']+)'/.exec(door?.code ?? '')?.[1];
    t.is(called, name, `plugins/${name}/index.ts calls the plugin ${called}; folder and name must agree`);
    t.regex(
      readme ?? '',
      new RegExp(`^# ${name}\\n`),
      `plugins/${name}/README.md does not begin with "# ${name}"`,
    );
  }
});

test('what a README lists of hooks, extension points, tokens and settings is what the plugin has', async (t) => {
  const found = await plugins();
  t.true(
    found.flatMap(({ readme }) => listedOffers(readme ?? '')).length > 25,
    'hardly an offer was recognised',
  );
  t.true(found.flatMap(({ readme }) => listedTaps(readme ?? '')).length > 7, 'hardly a tap was recognised');
  t.true(
    found.flatMap(({ readme }) => listedSettings(readme ?? '')).length > 10,
    'hardly a setting was recognised',
  );
  t.deepEqual(
    found.flatMap(({ name, readme, all }) => untruths(name, readme ?? '', all)),
    [],
  );
});

test('every endpoint in a README is a route of that plugin', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const routes = panel.kernel.listeners.routes();
  let checked = 0;
  for (const { name, readme } of await plugins()) {
    if (name === 'engine') continue;
    const own = routes.filter(({ plugin }) => plugin === name);
    for (const { method, path } of listedRoutes(readme ?? '')) {
      checked++;
      const fits = own.some(
        (mounted) =>
          mounted.route.method === method &&
          (path.startsWith('…') ? mounted.path.endsWith(path.slice(1)) : mounted.path === path),
      );
      t.true(fits, `plugins/${name}/README.md lists ${method} ${path}, which is no route of the plugin`);
    }
  }
  t.true(checked >= 20, `only ${checked} endpoints were recognised`);
});

/** Names in the line of the README's tree that begins with `plugins/`, and in those that go on with it. */
const namedInTree = (readme: string): string[] =>
  (/^plugins\/((?: .*\n)+)/m.exec(readme)?.[1] ?? '').split(/\s+/).filter((word) => word !== '');

test('the README names every plugin', async (t) => {
  const [readme] = (await filesOf('README.md')).filter(({ path }) => path === 'README.md');
  t.deepEqual(namedInTree(readme?.text ?? '').sort(), (await plugins()).map(({ name }) => name).sort());
});

test('presets name plugins that exist, each once', async (t) => {
  const names = (await plugins()).map(({ name }) => name);
  const presets = (await filesOf('.json')).filter(({ path }) => path.startsWith('config/presets/'));
  t.true(presets.length > 0);
  for (const { path, text } of presets) {
    // `preset:standard` stands for all of another one.
    const listed = (JSON.parse(text) as string[]).filter(
      (entry) =>
        !presets.some(
          (other) => `preset:${other.path.slice('config/presets/'.length, -'.json'.length)}` === entry,
        ),
    );
    t.deepEqual(
      listed.filter((name) => !names.includes(name)),
      [],
      `${path} names plugins that do not exist`,
    );
    t.is(new Set(listed).size, listed.length, `${path} names a plugin twice`);
  }
});

test('the rules see what they forbid', (t) => {
  const contract = sourceOf(
    'plugins/a/contract.ts',
    "export const A = token<object>('a', 'A');\nexport const saved = event<number>('a/saved');",
  );
  const index = sourceOf(
    'plugins/a/index.ts',
    'tap(composeX, () => 1);\nconst s = {\n  colour: setting(text(), ""),\n};',
  );
  t.deepEqual(namedInTree('kernel/  x\nplugins/  a  b-c\n          d\ncli/  e\n'), ['a', 'b-c', 'd']);
  const page = (text: string) => untruths('a', text, [contract, index]).length;
  const truth =
    'Offers: token `A` (see `b`), event `saved`. Taps: `b/composeX`.\n\nSettings: `colour` (or `red`).';
  t.is(page(truth), 0);
  t.is(page(truth.replace('event', 'guard')), 1);
  t.is(page(truth.replace('`A`', '`B`')), 2);
  t.is(page(truth.replace('composeX', 'composeY')), 1);
  t.is(page(truth.replace('`colour`', '`size`')), 2);
  t.deepEqual(
    listedOffers(
      'Offers: filters `x` (with `y`) and `z`, after hook `w`. Taps: `q`.\n| extension point `P` | `text` |',
    ).map(({ kind, name }) => `${kind} ${name}`),
    ['filter x', 'filter z', 'after w', 'extension point P'],
  );
  t.deepEqual(
    listedRoutes('| `GET /a/b`, `…/c/{id}` | `POST /no` |\nuse `POST /d?x=1`, and `/path`').map(
      ({ method, path }) => `${method} ${path}`,
    ),
    ['GET /a/b', 'GET …/c/{id}', 'POST /d'],
  );
});
