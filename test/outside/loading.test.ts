import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import * as kernel from '../../kernel/index.js';
import { Clients } from '../../plugins/clients/contract.js';
import { TestPanel } from '../harness/panel.js';
import { bootWith, folderOf, source, thirdParty, writeFiles } from './third-party.js';

test('whatever lies in its own node_modules, a plugin gets the kernel, the contracts and the harness that run', async (t) => {
  const folder = await folderOf(t);
  const decoy = {
    'package.json': {
      name: '@weir-panel/weir',
      version: '9.9.9',
      type: 'module',
      exports: { './*': './decoy.js' },
    },
    'decoy.js': "throw new Error('a second kernel');",
  };
  await writeFiles(join(folder, 'compass', 'node_modules', '@weir-panel', 'weir'), decoy);
  const reference = await thirdParty(
    folder,
    'compass',
    `${source('compass')}export { Refusal, PanelError } from '@weir-panel/weir/kernel';\nexport { Clients } from '@weir-panel/weir/plugins/clients';\nexport { TestPanel } from '@weir-panel/weir/testing';\n`,
  );
  await using panel = await bootWith(folder, { [reference]: true });
  t.like(panel.kernel.plugins()[0], {
    name: 'compass',
    version: '1.2.3',
    outside: true,
    state: 'running',
    reason: '',
  });
  const seen = (await import(pathToFileURL(join(folder, 'compass', 'index.js')).href)) as Record<
    string,
    unknown
  >;
  t.is(seen['Refusal'], kernel.Refusal);
  t.is(seen['PanelError'], kernel.PanelError);
  t.is(seen['Clients'], Clients);
  t.is(seen['TestPanel'], TestPanel);
});

test('a plugin that could not be imported is imported again when the panel starts again in its process', async (t) => {
  const folder = await folderOf(t);
  const reference = await thirdParty(folder, 'anchor', "export { default } from './part.js';\n");
  {
    await using panel = await bootWith(folder, { [reference]: true });
    t.regex(panel.state('anchor')?.reason ?? '', /failed while it was imported/);
  }
  await writeFiles(join(folder, 'anchor'), { 'part.js': source('anchor') });
  await using panel = await bootWith(folder, { [reference]: true });
  t.like(panel.state('anchor'), { state: 'running', reason: '' });
});

test('boot settings stand at the reference, and a wrong one leaves only that plugin out', async (t) => {
  const folder = await folderOf(t);
  const config =
    "config: { depth: variable('WEIR_X_WELL_DEPTH', int().min(1), 'how deep') }, start: ({ config, log }) => log.info('depth', { depth: config.depth })";
  const reference = await thirdParty(folder, 'well', source('well', config, 'variable, int'));
  await thirdParty(folder, 'bucket');
  {
    await using panel = await bootWith(folder, {
      [reference]: { config: { depth: 7 } },
      'path:bucket': true,
    });
    t.is(panel.log.find(({ msg }) => msg === 'depth')?.['depth'], 7);
  }
  await using panel = await bootWith(folder, {
    [reference]: { config: { depth: 0, width: 2 } },
    'path:bucket': true,
  });
  t.is(panel.state('bucket')?.state, 'running');
  t.is(panel.state('well')?.state, 'failed');
  const { reason = '' } = panel.state('well') ?? {};
  for (const part of [
    'plugin well: ',
    `plugins.${reference}.config.depth in ${join(folder, 'weir.json')} must be`,
    `plugins.${reference}.config.width`,
  ])
    t.true(reason.includes(part), `${part} in: ${reason}`);
  t.like(
    panel.log.find(({ msg }) => msg === 'a plugin is left out'),
    { level: 'error', plugin: 'well', reason },
  );
});

test('does not read a disabled plugin', async (t) => {
  const folder = await folderOf(t);
  await using panel = await bootWith(folder, {
    'path:nowhere': false,
    'npm:weir-plugin-gone': { on: false },
  });
  t.deepEqual(panel.kernel.plugins(), []);
});

/** Modules that are of no use, and what is said of them. */
const modules: readonly (readonly [string, RegExp])[] = [
  ["throw new Error('no luck');", /failed while it was imported: no luck; update it, or leave it out/],
  ['export default {', /failed while it was imported: /],
  ["import 'a-package-that-is-not-there';", /failed while it was imported: .*a-package-that-is-not-there/],
  ["import { noSuchThing } from '@weir-panel/weir/kernel';", /failed while it was imported: .*noSuchThing/],
  [
    "import '@weir-panel/weir/kernel/database/writer.js';",
    /failed while it was imported: .*is not defined by "exports"/,
  ],
  [
    "import { extend } from '@weir-panel/weir/kernel';",
    /export named 'extend' \(extend is called contribute now\); update it/,
  ],
  ["import 'weir/kernel';", /imported: .*\(the package is called @weir-panel\/weir\); update it/],
  ["require('@weir-panel/weir/kernel');", /\(plugins are ES modules: use `import`, and "type": "module"/],
  ["import '@weir-panel/weir/plugins/no-such-plugin';", /failed while it was imported: .*no-such-plugin/],
  ['export const plugin = 1;', /has no default export made by definePlugin/],
  [
    "export default { name: 'oddity', version: '1', api: 1, about: '' };",
    /has no default export made by definePlugin/,
  ],
  [source('another'), /declares the name another, but its package is weir-plugin-oddity; these must match/],
  [
    source('oddity').replace('api: 1', 'api: 2'),
    /plugin oddity was written for kernel contract 2; this kernel has 1/,
  ],
  [
    source('oddity', "uses: { pump: token('pump', 'Pump') }", 'token'),
    /plugin oddity needs pump\/Pump, but the plugin pump is not enabled; enable it or disable oddity/,
  ],
  [
    source('oddity', "uses: { self: token('oddity', 'Self') }", 'token'),
    /plugins use each other in a circle: oddity → oddity/,
  ],
  [
    source('oddity', "tables: { a: table('clients', { id: column.id() }) }", 'table, column'),
    /uses names that are not its own: its table or index clients must be called x_oddity_…/,
  ],
  [
    source(
      'oddity',
      "migrations: [{ name: '1', up: () => ['CREATE TABLE x_oddity_a (b INTEGER)', 'CREATE UNIQUE INDEX IF NOT EXISTS idx_b ON x_oddity_a (b)', 'DROP TABLE clients'] }]",
    ),
    /its table or index idx_b must be called x_oddity_…; its table or index clients must/,
  ],
  [
    source('oddity', "config: { a: variable('WEIR_ADMIN_PASSWORD', word(), 'a') }", 'variable, word'),
    /its variable WEIR_ADMIN_PASSWORD must be called WEIR_X_ODDITY_…/,
  ],
  [
    source(
      'oddity',
      "commands: () => [command({ name: 'admin reset', about: 'a', run: () => undefined })]",
      'command',
    ),
    /its command admin reset must begin with oddity/,
  ],
  [
    source('oddity', "migrations: [{ name: '1', up: () => { throw new Error('not today'); } }]"),
    /cannot be read: not today/,
  ],
  [
    source('oddity', "tables: { a: table('x_oddity_a', { id: column.id() }) }", 'table, column'),
    /declares the table x_oddity_a, which none of its migrations creates; its author has to add one/,
  ],
  [
    source(
      'oddity',
      "routes: () => [staticFiles({ path: '/panel/x/oddity/', folder: '/nowhere/page', doc: 'x' })]",
      'staticFiles',
    ),
    /plugin oddity cannot serve its routes: the folder \/nowhere\/page does not exist; build it first/,
  ],
];
for (const [i, [module, said]] of modules.entries()) {
  test(`left out, and the rest boots (${i + 1}): /${said.source}/`, async (t) => {
    const folder = await folderOf(t);
    await thirdParty(folder, 'oddity', module);
    await thirdParty(folder, 'fine');
    await using panel = await bootWith(folder, { 'path:oddity': true, 'path:fine': true });
    t.is(panel.state('fine')?.state, 'running');
    t.is(panel.state('oddity')?.state, 'failed');
    t.regex(panel.state('oddity')?.reason ?? '', said);
    t.is(
      panel.log.find(({ msg }) => msg === 'a plugin is left out')?.['reason'],
      panel.state('oddity')?.reason,
    );
  });
}

test('names are taken once: by what is built in, on or off, and by the first of two', async (t) => {
  const folder = await folderOf(t);
  await thirdParty(folder, 'access');
  await thirdParty(folder, 'kernel');
  await thirdParty(folder, 'twin');
  await thirdParty(join(folder, 'more'), 'twin');
  await using panel = await bootWith(folder, {
    'path:access': true,
    'path:kernel': true,
    'path:twin': true,
    'path:more/twin': true,
  });
  t.deepEqual(
    panel.kernel.plugins().map(({ name, state, reason }) => [name, state, reason.split(';')[0]]),
    [
      ['twin', 'running', ''],
      ['access', 'failed', 'the plugin path:access is called access, like a built-in plugin'],
      ['kernel', 'failed', 'the plugin path:kernel is called kernel, like a built-in plugin'],
      [
        'twin',
        'failed',
        `the plugin path:more/twin is called twin, like another one in ${join(folder, 'weir.json')}`,
      ],
    ],
  );
});

test('who needs one that is left out is left out with it', async (t) => {
  const folder = await folderOf(t);
  await thirdParty(
    folder,
    'spring',
    source(
      'spring',
      "provides: () => [provide(token('spring', 'Spring'), {})], start: () => { throw new Error('dry'); }",
      'provide, token',
    ),
  );
  await thirdParty(folder, 'mill', source('mill', "uses: { spring: token('spring', 'Spring') }", 'token'));
  await thirdParty(folder, 'barn');
  await using panel = await bootWith(folder, { 'path:spring': true, 'path:mill': true, 'path:barn': true });
  t.is(panel.state('spring')?.reason, 'plugin spring did not start: dry');
  t.is(
    panel.state('mill')?.reason,
    'plugin mill needs spring/Spring, but spring is left out; fix that one first',
  );
  t.is(panel.state('barn')?.state, 'running');
});
