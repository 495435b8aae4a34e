// Geodata on a whole panel with a real core: rules that name it, updates, and what a source may do wrong.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { definePlugin, type Plugin, tap } from '../../../kernel/index.js';
import { engineBinary, engineOf } from '../../../test/engine/user.js';
import { corePidIn } from '../../../test/harness/core-pid.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { type CorePart, composeCoreConfig, Engine, type EngineApi } from '../../engine/contract.js';
import { ipFile, siteFile } from './dat.js';
import { sha256, SourceServer } from './source-server.js';

/** A plugin whose parts of the config a test changes. */
class Parts {
  list: CorePart[] = [];
  engine: EngineApi | undefined;
  get plugin(): Plugin {
    return definePlugin({
      name: 'acme-parts',
      version: '1.0.0',
      api: 1,
      about: 'Adds parts to the config.',
      uses: { engine: Engine },
      taps: ({ engine }) => {
        this.engine = engine;
        return [tap(composeCoreConfig, (add) => add(...this.list))];
      },
    });
  }
}
const rule = (fields: object): CorePart => ({
  rule: { type: 'field', outboundTag: 'blocked', ...fields },
});

async function open(t: ExecutionContext, source: SourceServer, parts = new Parts(), dataDirectory?: string) {
  const panel = await TestPanel.boot({
    outside: [parts.plugin],
    ...(dataDirectory !== undefined && { dataDirectory }),
    env: {
      WEIR_ENGINE_BIN: engineBinary(),
      WEIR_OUTGOING_ALLOW: `geodata=${new URL(source.url).host}`,
      WEIR_ENGINE_PRIVATE: 'allow',
    },
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.get('/panel/api/setting/update', {
    body: {
      geodataSources: {
        ...source.sources('geoip.dat', 'geosite.dat'),
        'other.dat': `${source.url}/other.dat?token=secret`,
      },
    },
  });
  return panel;
}
interface Updated {
  readonly files: readonly {
    readonly name: string;
    readonly changed: boolean;
    readonly digestFrom: string;
  }[];
  readonly restarted: boolean;
  readonly problems: readonly string[];
}
const update = (panel: TestPanel, name = '') =>
  panel.call<Updated>(`/panel/api/server/updateGeofile${name && `/${name}`}`, { method: 'POST' });
const rulesOf = async (panel: TestPanel): Promise<string> =>
  JSON.stringify(
    (await panel.get<{ routing: { rules: unknown } }>('/panel/api/server/getConfigJson')).routing.rules,
  );
const pidOf = (panel: TestPanel): Promise<number | undefined> => corePidIn(panel.dataDirectory);

test('a rule whose geodata is missing is named and kept out; an update brings it in, and rules read a changed file while the core runs', async (t) => {
  const source = await SourceServer.open(t);
  const parts = new Parts();
  parts.list = [rule({ ip: ['geoip:zz'] }), rule({ domain: ['full:blocked.example'] })];
  const panel = await open(t, source, parts);
  const missing = await engineOf(panel);
  t.is(missing.state, 'running');
  t.regex(missing.errorMsg, /^rule .*"geoip:zz".*: geoip:zz: the file geoip\.dat is missing$/);
  t.regex(await rulesOf(panel), /blocked\.example/);
  t.notRegex(await rulesOf(panel), /geoip:zz/);
  const pid = await pidOf(panel);

  source.file('geoip.dat', ipFile({ PRIVATE: ['10.0.0.0/8'], ZZ: ['192.0.2.0/24'] }));
  source.file('geosite.dat', siteFile({ CN: ['domain:cn.example'] }), { digest: '', mark: 'time' });
  const first = await update(panel);
  t.is(first.status, 200, first.text);
  t.is(
    first.body.msg,
    'geoip.dat is updated (its digest matches); geosite.dat is updated (its source publishes no digest)',
  );
  t.is((await engineOf(panel)).errorMsg, '');
  t.regex(await rulesOf(panel), /geoip:zz/);
  t.is(await pidOf(panel), pid);

  source.served.length = 0;
  const same = await update(panel);
  t.is(same.body.msg, 'geoip.dat is unchanged; geosite.dat is unchanged');
  t.false(same.body.obj.restarted);
  await panel.get('/panel/api/server/status');
  t.deepEqual(source.served, ['/geoip.dat 304', '/geosite.dat 304'], 'asked by ETag and by time');
  t.is(await pidOf(panel), pid);

  source.file('geosite.dat', siteFile({ CN: ['domain:cn.example', 'full:more.example'] }));
  t.like((await update(panel, 'geosite.dat')).body.obj, { restarted: false, files: [{ changed: true }] });
  t.is(await pidOf(panel), pid, 'no part of the config names geosite.dat');

  const before = await rulesOf(panel);
  source.file('geoip.dat', ipFile({ ZZ: ['198.51.100.0/24'] }));
  t.like((await update(panel, 'geoip.dat')).body.obj, { restarted: false, pending: '' });
  t.not(await rulesOf(panel), before, 'the rule has another tag, so the core has got it again');
  t.like(await panel.get('/panel/api/engine/plan'), { change: 'none' });
  t.is(await pidOf(panel), pid);

  source.file('geoip.dat', ipFile({ PRIVATE: ['10.0.0.0/8'] }));
  const without = await update(panel, 'geoip.dat');
  t.regex(
    without.body.msg,
    /the core does without a part of the config: geoip:zz: geoip\.dat has no category ZZ$/,
  );
  t.regex((await engineOf(panel)).errorMsg, /geoip\.dat has no category ZZ/);
  t.notRegex(await rulesOf(panel), /geoip:zz/);
  t.deepEqual(panel.faults, []);
});

test('every place that names geodata is checked before the core', async (t) => {
  const source = await SourceServer.open(t);
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  await mkdir(join(dataDirectory, 'geodata'));
  await writeFile(join(dataDirectory, 'geodata', 'geoip.dat'), ipFile({ DE: ['192.0.2.0/24'] }));
  await writeFile(join(dataDirectory, 'geodata', 'my.dat'), siteFile({ WORK: ['full:work.example @vpn'] }));
  const parts = new Parts();
  const panel = await open(t, source, parts, dataDirectory);
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const problemOf = async (...list: CorePart[]): Promise<string> => {
    parts.list = list;
    await parts.engine?.reconcileConfig();
    const { state, errorMsg } = await engineOf(panel);
    t.is(state, 'running');
    return errorMsg;
  };
  const good: CorePart[] = [
    rule({ ip: ['geoip:DE'] }),
    rule({ ip: 'geoip:!de,10.0.0.0/8' }),
    rule({ source: ['ext:geoip.dat:de'], network: 'tcp' }),
    rule({ sourceIP: ['ext-ip:geoip.dat:!de'] }),
    rule({ domain: ['ext:my.dat:work@vpn', 'keyword:x'] }),
    rule({ domains: ['ext-domain:my.dat:work'] }),
    { nameServer: { address: '192.0.2.53', domains: ['ext:my.dat:work'], expectIPs: ['geoip:de'] } },
  ];
  for (const part of good) t.is(await problemOf(part), '', JSON.stringify(part));
  t.is(await problemOf(...good), '');
  for (const [part, reason] of [
    [rule({ ip: ['geoip:fr'] }), /geoip:fr: geoip\.dat has no category FR$/],
    [rule({ ip: ['geoip:!'] }), /geoip:!: it names no category$/],
    [rule({ IP: ['10.0.0.0/8', 'geoip:fr'] }), /has no category FR$/],
    [rule({ source: 'geoip:de,geoip:fr' }), /has no category FR$/],
    [rule({ localIP: ['ext:my.dat:work'] }), /my\.dat holds domains, and addresses are needed here$/],
    [rule({ domain: ['geosite:cn'] }), /geosite:cn: the file geosite\.dat is missing$/],
    [rule({ domain: ['ext:my.dat:work@none'] }), /no domain of WORK in my\.dat has the attribute @none$/],
    [
      rule({ domain: ['ext:../engine/config.json:x'] }),
      /ext:\.\.\/engine\/config\.json:x leads out of the folder of geodata/,
    ],
    [rule({ domain: ['ext:my.dat'] }), /it must have the form ext:FILE:CATEGORY$/],
    [
      { nameServer: { address: '192.0.2.53', domains: ['geosite:cn'] } },
      /name server .*geosite\.dat is missing$/,
    ],
    [{ nameServer: { address: '192.0.2.53', expectedIPs: ['geoip:fr'] } }, /has no category FR$/],
    [
      {
        outbound: {
          tag: 'late',
          protocol: 'freedom',
          settings: { finalRules: [{ action: 'block', ip: ['geoip:fr'] }] },
        },
      },
      /outbound late: geoip:fr: /,
    ],
  ] as const)
    t.regex(await problemOf(part), reason, JSON.stringify(part));

  await writeFile(join(dataDirectory, 'geodata', 'geoip.dat'), 'an admin broke it');
  t.regex(
    await problemOf(rule({ ip: ['geoip:de'] })),
    /geoip\.dat cannot be used: it is not a list of categories$/,
  );
  const checked = await panel.get<{ token: string; known: boolean; reason: string }[]>(
    '/panel/api/x/geodata/check',
    {
      body: { tokens: ['ext:my.dat:WORK', 'geosite:cn', '10.0.0.0/8', 'domain:a.example'] },
    },
  );
  t.deepEqual(
    checked.map(({ known }) => known),
    [true, false, true, true],
  );
  t.is(checked[1]?.reason, 'the file geosite.dat is missing');
});

test('what a source sends wrongly is refused, and the previous file stays', async (t) => {
  const source = await SourceServer.open(t);
  const parts = new Parts();
  const panel = await open(t, source, parts);
  const good = ipFile({ ZZ: ['192.0.2.0/24'] });
  const folder = join(panel.dataDirectory, 'geodata');
  source.file('geoip.dat', good);
  await update(panel, 'geoip.dat');
  const newer = ipFile({ ZZ: ['198.51.100.0/24'] });
  const sends =
    (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
    (): void =>
      source.set('/geoip.dat', (_, response) => void response.writeHead(status, headers).end(body));
  for (const [arrange, reason] of [
    [() => source.file('geoip.dat', newer, { digest: '0'.repeat(64) }), /but its source publishes 0{64}/],
    [() => source.file('geoip.dat', newer, { digest: 'no digest' }), /its digest at .* cannot be read/],
    [() => source.file('geoip.dat', Buffer.from('<html>')), /it is not a list of categories/],
    [
      () => source.file('geoip.dat', siteFile({ ZZ: ['full:a.example'] })),
      /it holds domains, which its name denies/,
    ],
    [() => source.file('geoip.dat', newer.subarray(0, -3)), /it is cut off/],
    [sends(200, '', { 'content-length': '0' }), /but its source publishes|it has no category/],
    [sends(500, 'no'), /127\.0\.0\.1:\d+ answered 500/],
    [sends(304, ''), /unchanged|answered 304/],
    [sends(302, '', { location: 'http://192.0.2.1/geoip.dat' }), /192\.0\.2\.1.*is not among the hosts/],
    [
      () =>
        source.set('/geoip.dat', (_, response) => {
          response.writeHead(200, { 'content-length': '500' }).write('x');
          setTimeout(() => response.destroy(), 50);
        }),
      /geoip\.dat is not updated: /,
    ],
    [
      () =>
        source.set(
          '/geoip.dat',
          (_, response) => void response.writeHead(200, { 'content-length': '999999999' }).write('x'),
        ),
      /larger|maxBytes|bytes/,
    ],
  ] as const) {
    arrange();
    const { body } = await update(panel, 'geoip.dat');
    t.regex(body.msg, reason);
    t.deepEqual(await readFile(join(folder, 'geoip.dat')), good, body.msg);
    t.deepEqual((await readdir(folder)).sort(), ['geoip.dat', 'sources.json'], body.msg);
  }
  t.is((await update(panel, 'nobody.dat')).body.code, 'GEODATA_NO_SOURCE');
  for (const name of ['..%2Fx.dat', 'x.txt', '.dat', '%2e%2e.dat', 'a%00.dat'])
    t.is((await update(panel, name)).status, 400, name);

  let go: (() => void) | undefined;
  source.set('/geoip.dat', (_, response) => void (go = () => void response.writeHead(503).end()));
  const waiting = update(panel, 'geoip.dat');
  await until(() => go !== undefined, 'the source is asked');
  t.is((await update(panel, 'geoip.dat')).body.code, 'GEODATA_BUSY');
  go?.();
  t.is((await waiting).body.code, 'GEODATA_DOWNLOAD');

  const other = siteFile({ A: ['full:a.example'] });
  source.set('/other.dat?token=secret', (_, response) => void response.end(other));
  source.set('/other.dat.sha256sum?token=secret', (_, response) => void response.end(sha256(other)));
  const secret = await update(panel, 'other.dat');
  t.is(secret.body.obj.files[0]?.digestFrom, `${source.url}/other.dat.sha256sum`);
  const files = await panel.get<{ name: string; source: string }[]>('/panel/api/x/geodata/files');
  t.deepEqual(
    files.map(({ name, source: from }) => [name, from]),
    [
      ['geoip.dat', `${source.url}/geoip.dat`],
      ['other.dat', `${source.url}/other.dat`],
    ],
  );
  t.like(await panel.get('/panel/api/x/geodata/categories?file=geoip.dat'), {
    total: 1,
    items: [{ code: 'ZZ', count: 1 }],
  });
  t.like(await panel.get('/panel/api/x/geodata/entries?file=geoip.dat&code=zz'), {
    total: 1,
    items: [{ type: 'cidr', value: '192.0.2.0/24' }],
  });
  t.is(
    (await panel.call('/panel/api/x/geodata/entries?file=geoip.dat&code=FR')).body.code,
    'GEODATA_UNKNOWN',
  );
  t.deepEqual(panel.faults, []);
});
