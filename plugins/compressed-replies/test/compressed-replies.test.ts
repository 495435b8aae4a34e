// Replies as they are on the wire: Node's own client, because fetch unpacks them in silence.
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { definePlugin, raw, route } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

interface Wire {
  readonly status: number;
  readonly encoding: string | undefined;
  readonly length: string | undefined;
  readonly vary: string | undefined;
  readonly body: Buffer;
}
const LIST = '/panel/api/clients/list';
const LINES = '/panel/api/x/lines';
const lines = definePlugin({
  name: 'lines',
  version: '0.1.0',
  api: 1,
  about: 'Sends lines of text.',
  routes: () => [
    route({
      method: 'GET',
      path: LINES,
      name: 'lines.list',
      doc: 'Sends lines.',
      reply: raw('text/plain'),
      handle: ({ reply }) => {
        reply.header('content-type', 'text/plain');
        return 'a line of a log\n'.repeat(1_000);
      },
    }),
  ],
});

async function ask(panel: TestPanel, path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<Wire>((resolve, reject) => {
    const sent = request(`${panel.url}${path}`, { headers, method }, async (response) => {
      const { 'content-encoding': encoding, 'content-length': length, vary } = response.headers;
      resolve({ status: response.statusCode ?? 0, encoding, length, vary, body: await buffer(response) });
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function boot(t: ExecutionContext, clients: number) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, lines] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'script' },
  });
  const inbound = await panel.get<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port: 24_441, remark: 'test' },
  });
  await panel.get('/panel/api/clients/bulkCreate', {
    body: Array.from({ length: clients }, (_, i) => ({
      client: { email: `client${i}` },
      inboundIds: [inbound.id],
    })),
  });
  return { panel, authorization: `Bearer ${token}` };
}

test('a program with a token gets what it asks for, whole and much smaller; a session gets it as it is', async (t) => {
  const { panel, authorization } = await boot(t, 300);
  const plain = await ask(panel, LIST, { authorization });
  t.is(plain.encoding, undefined);
  const emails = (body: Buffer) =>
    (JSON.parse(body.toString()) as { obj: { email: string }[] }).obj.map(({ email }) => email);
  t.is(emails(plain.body).length, 300);

  const packed = await ask(panel, LIST, { authorization, 'accept-encoding': 'gzip' });
  t.is(packed.encoding, 'gzip');
  t.is(packed.vary, 'Accept-Encoding');
  t.deepEqual(emails(gunzipSync(packed.body)), emails(plain.body));
  t.true(packed.body.length * 5 < plain.body.length, `${packed.body.length} of ${plain.body.length}`);
  const brotli = await ask(panel, LIST, { authorization, 'accept-encoding': 'gzip, br' });
  t.is(brotli.encoding, 'br');
  t.deepEqual(emails(brotliDecompressSync(brotli.body)), emails(plain.body));
  // Node 20 cannot make it.
  t.is((await ask(panel, LIST, { authorization, 'accept-encoding': 'zstd' })).encoding, undefined);

  const cookie = await ask(panel, LIST, { cookie: panel.cookie, 'accept-encoding': 'gzip' });
  t.is(cookie.status, 200);
  t.is(cookie.encoding, undefined, 'the length of a compressed reply tells what is in it');
  t.deepEqual(emails(cookie.body), emails(plain.body));
});

test('a small reply, an error and a reply without a body stay as they are', async (t) => {
  const { panel, authorization } = await boot(t, 1);
  const headers = { authorization, 'accept-encoding': 'gzip' };
  const small = await ask(panel, '/panel/api/clients/get/client0', headers);
  t.is(small.status, 200);
  t.is(small.encoding, undefined);
  t.is(Number(small.length), small.body.length);
  const missing = await ask(panel, '/panel/api/clients/get/nobody', headers);
  t.deepEqual([missing.status, missing.encoding], [404, undefined]);
  const refused = await ask(panel, LIST, { ...headers, authorization: 'Bearer nobody' });
  t.deepEqual([refused.status, refused.encoding], [401, undefined]);
  const head = await ask(panel, LIST, headers, 'HEAD');
  t.deepEqual([head.status, head.body.length], [200, 0]);
});

test('what is not JSON is sent as it comes', async (t) => {
  const { panel, authorization } = await boot(t, 1);
  const text = await ask(panel, LINES, { authorization, 'accept-encoding': 'gzip' });
  t.deepEqual([text.status, text.encoding, text.body.length], [200, undefined, 16_000]);
});

test('a caller that leaves in the middle of a large reply harms nobody', async (t) => {
  const { panel, authorization } = await boot(t, 1_000);
  for (let i = 0; i < 20; i++)
    await new Promise<void>((resolve) => {
      const sent = request(
        `${panel.url}${LIST}`,
        { headers: { authorization, 'accept-encoding': 'gzip' } },
        (response) => response.once('data', () => (response.destroy(), resolve())),
      );
      sent.on('error', () => undefined);
      sent.end();
    });
  const after = await ask(panel, LIST, { authorization, 'accept-encoding': 'gzip' });
  t.is((JSON.parse(gunzipSync(after.body).toString()) as { obj: unknown[] }).obj.length, 1_000);
  t.deepEqual(
    panel.log.filter((line) => line.includes('"level":"error"')),
    [],
  );
});
