// Nodes that lie: each lie becomes a sentence at the node, and nothing else happens.
import type { RequestListener } from 'node:http';
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { add, boot, guidOf, list, local, NODES, only, server, STATUS, statusOf } from './world.js';

interface Tested {
  readonly status: string;
  readonly error: string;
}

test('replies that are no status of a panel are told apart', async (t) => {
  const { panel } = await boot(t);
  const far = await server(t, statusOf(STATUS));
  const asked = (): Promise<Tested> => panel.get(`${NODES}/test`, { body: local(far.port, 'token') });
  t.like(await asked(), { status: 'online', error: '' });
  const json =
    (text: string, status = 200): RequestListener =>
    (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(text);
    };
  const lies: readonly (readonly [what: string, lie: RequestListener, says: RegExp])[] = [
    [
      'HTML',
      (_, r) => r.setHeader('content-type', 'text/html').end('<h1>It works</h1>'),
      /answered 200 with text\/html; it is not the API of a panel/,
    ],
    ['no JSON', json('{'), /it is not the API of a panel/],
    ['a list', json('[]'), /it is not the API of a panel/],
    ['no object', json('{"success":true,"obj":5}'), /invalid obj/],
    [
      'a refusal',
      json('{"success":false,"msg":"no\\u202ereally\\n","obj":null}', 400),
      /refuses \(400\): no really/,
    ],
    ['negative figures', statusOf({ ...STATUS, netIO: { up: -5, down: 0 } }), /invalid netIO\.up/],
    ['text for a figure', statusOf({ ...STATUS, cpu: 'NaN' }), /invalid cpu/],
    ['too large a figure', statusOf({ ...STATUS, uptime: 1e300 }), /invalid uptime/],
    ['an invalid guid', statusOf({ ...STATUS, panelGuid: '<script>' }), /invalid panelGuid/],
    ['a core that is a list', statusOf({ ...STATUS, engine: [1] }), /invalid engine/],
    [
      'a redirect to metadata',
      (_, r) => r.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end(),
      /redirects elsewhere, which is not followed/,
    ],
    [
      'a redirect to itself',
      (q, r) => r.writeHead(307, { location: String(q.url) }).end(),
      /redirects elsewhere/,
    ],
    ['nothing', (_, r) => void r.destroy(), /closed the connection|hang up|ECONNRESET/],
  ];
  for (const [what, lie, says] of lies) {
    far.answer = lie;
    const { status, error } = await asked();
    t.is(status, 'offline', what);
    t.regex(error, says, what);
  }
  // Of a reply of 10 GiB, no more than the limit is read.
  let sent = 0;
  let isClosed = false;
  far.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(10 * 2 ** 30) });
    const block = Buffer.alloc(64 * 1024, ' ');
    const push = (): void => {
      while (!isClosed && response.write(block)) sent += block.length;
      sent += block.length;
    };
    response.on('drain', push).on('close', () => (isClosed = true));
    push();
  };
  t.regex((await asked()).error, /larger|more than|bytes/);
  await until(() => isClosed, 'the connection is closed');
  t.true(sent < 64 * 2 ** 20, `${sent} bytes were taken`);
  // Slow bytes end with the limit of the probe.
  far.answer = (_request, response) => {
    const timer = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(timer));
  };
  const since = Date.now();
  t.regex((await asked()).error, /longer than 6 s/);
  t.true(Date.now() - since < 10_000);
  t.deepEqual(panel.faults, []);
});

test('another panel than it was, this panel, and the same panel twice are problems, and no changes are sent there', async (t) => {
  const { panel, clock } = await boot(t);
  const far = await server(t, statusOf(STATUS));
  const id = await add(panel, local(far.port, 'token', { name: 'first' }));
  const probe = () => panel.get(`${NODES}/probe/${id}`, { method: 'POST' });
  const codes = async () => (await only(panel)).problems.map(({ code }) => code);
  t.deepEqual(await codes(), []);

  far.answer = statusOf({ ...STATUS, panelGuid: 'another-one' });
  await probe();
  t.deepEqual(await codes(), ['other']);
  t.is((await only(panel)).guid, STATUS.panelGuid, 'what was learned stays');
  t.regex((await only(panel)).lastError, /another panel answers there: another-one instead of 1111/);
  await panel.get(`/panel/api/x/nodes/acceptGuid/${id}`, { method: 'POST' });
  t.deepEqual(await codes(), []);
  t.is((await only(panel)).guid, 'another-one');

  far.answer = statusOf({ ...STATUS, panelGuid: await guidOf(panel) });
  await probe();
  t.deepEqual(await codes(), ['self']);

  far.answer = statusOf({ ...STATUS, panelGuid: '' });
  await probe();
  t.deepEqual(await codes(), ['noGuid']);

  far.answer = statusOf({ ...STATUS, panelGuid: 'another-one' });
  await probe();
  await add(panel, local(far.port, 'token', { name: 'second' }));
  const shown = await list(panel);
  t.deepEqual(
    shown.map(({ problems }) => problems.map(({ code }) => code)),
    [[], ['shared']],
  );
  t.regex(shown[1]?.lastError ?? '', /has the guid of first/);

  clock.jump(600_000);
  await probe();
  t.true(
    (await list(panel))[0]?.problems.some(
      ({ code, message }) => code === 'clock' && message.includes('behind'),
    ),
  );
  t.true(Math.abs(((await list(panel))[0]?.clockOffset ?? 0) + 600) < 30);
});

test('a node that answers with the guid of another one stops no changes of that other one', async (t) => {
  const { panel } = await boot(t);
  const real = await server(t, statusOf(STATUS));
  const liar = await server(t, statusOf({ ...STATUS, panelGuid: 'its-own' }));
  await add(panel, local(real.port, 'token', { name: 'real' }));
  const id = await add(panel, local(liar.port, 'token', { name: 'liar' }));
  liar.answer = statusOf(STATUS);
  await panel.get(`${NODES}/probe/${id}`, { method: 'POST' });
  const codes = (await list(panel)).map(({ name, problems }) => [name, problems.map(({ code }) => code)]);
  t.deepEqual(codes, [
    ['real', []],
    ['liar', ['shared', 'other']],
  ]);
});

test('what nodes say of those below them fits into what the panel above this one reads', async (t) => {
  const { panel } = await boot(t);
  const below = (root: string) =>
    Array.from({ length: 2_000 }, (_, i) => ({
      ...{ guid: `${root}-${i}`, parentGuid: root, name: '网'.repeat(64), address: 'x'.repeat(255) },
      engineError: 'x'.repeat(380),
    }));
  for (const guid of ['first', 'second']) {
    const far = await server(t, statusOf({ ...STATUS, panelGuid: guid }, below(guid)));
    await add(panel, local(far.port, 'token', { name: guid }));
  }
  const published = await panel.get<{ guid: string }[]>('/panel/api/server/descendants');
  t.deepEqual(
    published.slice(0, 2).map(({ guid }) => guid),
    ['first', 'second'],
  );
  t.true(Buffer.byteLength(JSON.stringify(published)) < 2 * 2 ** 20);
  t.true(published.length > 500, `${published.length} entries`);
});

test('a list of inbounds is read with limits', async (t) => {
  const { panel } = await boot(t);
  const far = await server(
    t,
    statusOf([
      { id: 7, tag: 'in-1', remark: 'a\u0000b', protocol: 'vless', listen: null, port: 443, settings: {} },
      null,
      { port: -1 },
    ]),
  );
  const body = local(far.port, 'token');
  t.deepEqual(await panel.get(`${NODES}/inbounds`, { body }), [
    { id: 7, tag: 'in-1', remark: 'a b', protocol: 'vless', listen: '', port: 443 },
    { id: 0, tag: '', remark: '', protocol: '', listen: '', port: 0 },
    { id: 0, tag: '', remark: '', protocol: '', listen: '', port: 0 },
  ]);
  t.deepEqual(far.asked, ['GET /panel/api/inbounds/list']);
  far.answer = statusOf({ no: 'list' });
  t.is((await panel.call(`${NODES}/inbounds`, { body })).body.code, 'NODES_FAILED');
});
