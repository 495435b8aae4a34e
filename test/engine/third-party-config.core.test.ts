// A real core rejects what a third-party plugin adds to its config: the panel works without it and names the plugin.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { weir } from '../../cli/weir.js';
import { environmentOf, type PanelApi } from '../harness/api.js';
import { folderOf, source, thirdParty as stranger, writeFiles } from '../outside/third-party.js';
import { connect, engineBinary, engineOf, openPanel, openServer } from './user.js';

const IMPORT = "import { composeCoreConfig } from '@weir-panel/weir/plugins/engine';\n";
const NAMES = 'route, message, tap';
const UNKNOWN = "{ outbound: { tag: 'weed', protocol: 'no-such-protocol' } }";

/** `weir …` in this process, for the panel of this data folder. */
async function weirCommand(
  dataDirectory: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly said: string; readonly complained: string }> {
  const said: string[] = [];
  const complained: string[] = [];
  const settings = { PATH: process.env['PATH'] ?? '', ...environmentOf(dataDirectory), WEIR_LOG_LEVEL: '' };
  const code = await weir(
    argv,
    { ...settings, ...env },
    {
      say: (line) => void said.push(line),
      complain: (line) => void complained.push(line),
    },
  );
  return { code, said: said.join('\n'), complained: complained.join('\n') };
}

/** Source of a plugin that adds these to the core's config, and has a route. */
const adding = (name: string, entries: string): string =>
  IMPORT +
  source(
    name,
    `taps: () => [tap(composeCoreConfig, (add) => add(${entries}), { stage: -1000 })],
     routes: () => [route({ method: 'GET', path: '/panel/api/x/${name}/well', doc: 'x', reply: message(), handle: () => 'well' })]`,
    NAMES,
  );

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly reason: string;
}
const listed = async (panel: PanelApi): Promise<Record<string, Listed>> =>
  Object.fromEntries(
    (await panel.get<Listed[]>('/panel/api/system/plugins')).map((plugin) => [plugin.name, plugin]),
  );
const configOf = (panel: PanelApi) =>
  panel.get<{ inbounds: { tag: string; port: number }[]; outbounds: { tag: string }[] }>(
    '/panel/api/server/getConfigJson',
  );

test('a plugin whose part the core rejects is named and does its other work; users are served, and the parts of others are used', async (t) => {
  const folder = await folderOf(t);
  const server = await openServer(t);
  const before = await openPanel(t, { dataDirectory: folder });
  const inbound = await before.addInbound();
  await before.addClient('alice', [inbound]);
  const { tag, port } = await before.get<{ tag: string; port: number }>(`/panel/api/inbounds/get/${inbound}`);
  const user = await connect(t, before, 'alice', server);
  await before.stop();

  const file = join(folder, 'weed-part');
  const sources = {
    good: adding('good', "{ outbound: { tag: 'good', protocol: 'freedom' } }"),
    number: adding('number', '42'),
    thief: adding(
      'thief',
      `{ inbound: { id: 77, tag: '${tag}', protocol: 'vless', config: { tag: '${tag}', port: ${port}, listen: '127.0.0.1', protocol: 'vless', settings: { decryption: 'none' } } } }`,
    ),
    // It reads its part from a file, as from a changed setting.
    weed: `import { readFileSync } from 'node:fs';\n${adding('weed', `...JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8'))`)}`,
  };
  await writeFile(file, '[{"outbound":{"tag":"weed","protocol":"no-such-protocol"}}]');
  const references = await Promise.all(
    Object.entries(sources).map(([name, module]) => stranger(folder, name, module)),
  );
  await writeFiles(folder, {
    'weir.json': { plugins: Object.fromEntries(references.map((reference) => [reference, true])) },
  });
  const panel = await openPanel(t, { dataDirectory: folder });
  t.is(panel.ready.engine, 'running');
  t.true(await user.served());
  t.like(await engineOf(panel), { state: 'running', errorMsg: '' });
  const { inbounds, outbounds } = await configOf(panel);
  t.is(inbounds.find((own) => own.tag === tag)?.port, port);
  const tags = outbounds.map((own) => own.tag);
  t.true(tags.includes('good') && !tags.includes('weed'), tags.join());

  const plugins = await listed(panel);
  t.like(plugins['good'], { state: 'running', reason: '' });
  t.is(plugins['weed']?.state, 'running');
  t.regex(plugins['weed']?.reason ?? '', /core rejected what it adds .*no-such-protocol/);
  t.regex(
    plugins['thief']?.reason ?? '',
    new RegExp(`its inbound ${tag} is left out: inbounds has an inbound`),
  );
  t.regex((await weirCommand(folder, ['plugins'])).said, /^weed +1\.2\.3 +running +.*no-such-protocol/m);
  const faults = panel.log.filter(({ msg }) => msg === 'plugin fault');
  t.deepEqual(
    [...new Set(faults.map(({ plugin }) => plugin))].sort(),
    ['number', 'thief', 'weed'],
    'each is named, and nobody else',
  );
  for (const name of Object.keys(sources)) t.is((await panel.call(`/panel/api/x/${name}/well`)).status, 200);

  // Edits still work, and a fixed part is accepted.
  t.is((await panel.call('/panel/api/inbounds/update/1', { body: { remark: 'edited' } })).status, 200);
  const core = await panel.corePid();
  t.is((await panel.call('/panel/api/inbounds/update/1', { body: { remark: 'again' } })).status, 200);
  t.is(await panel.corePid(), core, 'a part that stays as it is costs no restart');
  await writeFile(file, '[{"outbound":{"tag":"weed","protocol":"freedom"}}]');
  await panel.get('/panel/api/inbounds/update/1', { body: { remark: 'once more' } });
  t.true((await configOf(panel)).outbounds.some((own) => own.tag === 'weed'));
  t.is((await listed(panel))['weed']?.reason, '');
  t.true(await user.served());
});

test('weir plugin add and weir check have a core test what a plugin adds, and say so where there is none', async (t) => {
  const folder = await folderOf(t);
  const shop = await folderOf(t);
  const env = { WEIR_ENGINE_BIN: engineBinary() };
  const none = {
    WEIR_ENGINE_BIN: '',
    WEIR_ENGINE_INSTALL: 'off',
    XDG_CACHE_HOME: folder,
    PATH: process.env['PATH'] ?? '',
  };
  const weed = (await stranger(shop, 'weed', adding('weed', UNKNOWN))).replace('path:', '');
  const good = (
    await stranger(shop, 'good', adding('good', "{ outbound: { tag: 'good', protocol: 'freedom' } }"))
  ).replace('path:', '');

  const refused = await weirCommand(folder, ['plugin', 'add', weed], env);
  t.is(refused.code, 1);
  t.regex(refused.complained, /weed was not added, and nothing was changed: .*no-such-protocol/);
  const taken = await weirCommand(folder, ['plugin', 'add', good], env);
  t.deepEqual([taken.code, taken.complained], [0, '']);
  t.false(taken.said.includes('untried'), taken.said);

  const untried = await weirCommand(folder, ['plugin', 'add', weed], none);
  t.is(untried.code, 0, untried.complained);
  t.regex(
    untried.said,
    /^note: there is no core here yet, so what the plugin adds to the core.s config is untested$/m,
  );
  const checked = await weirCommand(folder, ['check'], env);
  t.is(checked.code, 1);
  t.regex(checked.said, /^core +\S+ \(\d+\.\d+\.\d+\)$/m);
  t.regex(checked.complained, /the core would run without what these add .*\n {2}- weed: .*no-such-protocol/);
});
