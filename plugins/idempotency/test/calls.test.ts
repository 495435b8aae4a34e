// Runs on every database in test:full.
// Calls with an Idempotency-Key, as a client program makes them.
import { Readable } from 'node:stream';
import test from 'ava';
import {
  column,
  type Database,
  defineErrors,
  definePlugin,
  file,
  int,
  message,
  once,
  optional,
  payload,
  raw,
  route,
  withMessage,
  shape,
  stream,
  table,
  text,
} from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import type { CallOptions } from '../../../test/harness/api.js';
import { LARGEST_REPLY, MOST_BYTES, MOST_CALLS } from '../call-store.js';

const X = '/panel/api/x/bakery';
const HOUR = 3_600_000;
const errors = defineErrors('bakery', { BURNT: [409, 'it burnt'], DARK: [503, 'the light is out'] });

/** Bakes one loaf with each call; what a test wants of an oven is in `next`. */
class Bakery {
  loaves = 0;
  db: Database | undefined;
  next: () => Promise<void> = async () => undefined;
  /** after the loaf of `/oven/{kind}` is in the database, and before the reply */
  afterwards: () => Promise<void> = async () => undefined;
  readonly plugin = definePlugin({
    name: 'bakery',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    tables: { loaves: table('x_bakery_loaves', { id: column.id(), baked: column.integer() }) },
    migrations: [
      {
        name: '0001-loaves',
        up: ({ id, integer }) => [`CREATE TABLE x_bakery_loaves (id ${id}, baked ${integer} NOT NULL)`],
      },
    ],
    start: ({ db }) => void (this.db = db),
    routes: () => {
      const flour = shape({ flour: int(), of: text() });
      const bake = async () => {
        await this.next();
        this.loaves += 1;
        return this.loaves;
      };
      return [
        route({
          method: 'POST',
          path: `${X}/{oven}/bread`,
          doc: 'x',
          params: shape({ oven: text() }),
          query: shape({ slices: optional(int()) }),
          body: flour,
          reply: payload(shape({ loaves: int(), url: text() })),
          errors: [errors.BURNT, errors.DARK],
          handle: async ({ reply, signal, url }) => {
            signal.throwIfAborted();
            const loaves = await bake();
            reply.status(201);
            reply.header('x-oven', 'hot');
            return withMessage('bread is ready', { loaves, url });
          },
        }),
        route({
          method: 'POST',
          path: `${X}/oven/{kind}`,
          doc: 'x',
          params: shape({ kind: text() }),
          reply: payload(shape({ loaf: int() })),
          handle: async (input) => {
            const db = this.db as Database;
            const { loaf } = await once(input, async (note) => {
              await this.next();
              return db.write(async (tx) => {
                await tx.run('INSERT INTO x_bakery_loaves (baked) VALUES (1)');
                const [{ n } = { n: 0 }] = await tx.query<{ n: number }>(
                  'SELECT COUNT(*) AS n FROM x_bakery_loaves',
                );
                if (input.params.kind === 'noted') note?.({ loaf: Number(n) });
                if (input.params.kind === 'long')
                  note?.({ loaf: Number(n), text: 'x'.repeat(LARGEST_REPLY) });
                return { loaf: Number(n) };
              });
            });
            await this.afterwards();
            return withMessage(`loaf ${loaf}`, { loaf });
          },
        }),
        route({
          method: 'POST',
          path: `${X}/sentence`,
          doc: 'x',
          reply: message(),
          handle: async () => `${await bake()} ready`,
        }),
        route({
          method: 'POST',
          path: `${X}/raw`,
          doc: 'x',
          reply: raw('text/plain'),
          handle: async ({ reply }) => {
            reply.header('content-type', 'text/plain');
            return 'x'.repeat((await bake()) === 1 ? LARGEST_REPLY + 1 : 3);
          },
        }),
      ];
    },
  });
}

async function open(options: { clock?: FakeClock } = {}) {
  const bakery = new Bakery();
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [bakery.plugin],
    ...options,
  });
  const send = (key: string | undefined, path = '/one/bread', rest: CallOptions = {}) =>
    panel.call(`${X}${path}`, {
      body: { flour: 1, of: 'rye' },
      ...rest,
      headers: { ...(key !== undefined && { 'Idempotency-Key': key }), ...rest.headers },
    });
  return { bakery, panel, send };
}

test('a repetition is answered as the first call was, byte for byte, and done once', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  const first = await send('k1');
  t.deepEqual([first.status, first.body.msg, bakery.loaves], [201, 'bread is ready', 1]);
  t.is(first.headers.get('idempotency-replayed'), null);
  const again = await send('"k1"');
  t.deepEqual([again.status, again.text, bakery.loaves], [201, first.text, 1]);
  t.deepEqual([again.headers.get('idempotency-replayed'), again.headers.get('x-oven')], ['true', 'hot']);
  const reordered = await send('k1', undefined, { body: { of: 'rye', flour: 1 } });
  t.is(reordered.text, first.text, 'the order of fields says nothing');
  const sentence = await send('k1', '/sentence');
  t.is((await send('k1', '/sentence')).text, sentence.text, 'another route has keys of its own');
  t.is(bakery.loaves, 2);
  t.is((await send(undefined)).status, 201);
  t.is(bakery.loaves, 3, 'without a key nothing is kept');
});

test('a key that was used for another request is refused', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  await send('k1');
  for (const [path, body] of [
    ['/one/bread', { flour: 2, of: 'rye' }],
    ['/two/bread', { flour: 1, of: 'rye' }],
    ['/one/bread?slices=9', { flour: 1, of: 'rye' }],
  ] as const) {
    const { status, body: answer } = await send('k1', path, { body });
    t.deepEqual([status, answer.code], [422, 'IDEMPOTENCY_OTHER_REQUEST']);
  }
  t.is(bakery.loaves, 1);
});

test('while the first call is under way, a repetition is told so', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  let release: () => void = () => undefined;
  let begun = false;
  bakery.next = () => {
    begun = true;
    return new Promise((resolve) => (release = resolve));
  };
  const first = send('k1');
  await until(() => begun, 'the first call bakes');
  const second = await send('k1');
  t.deepEqual([second.status, second.body.code], [409, 'IDEMPOTENCY_UNDER_WAY']);
  t.is(second.headers.get('retry-after'), '1');
  t.is((await send('k1', undefined, { body: { flour: 9, of: 'rye' } })).status, 422);
  release();
  t.is((await first).status, 201);
  t.is((await send('k1')).text, (await first).text);
  t.is(bakery.loaves, 1);
});

test('a refusal changes nothing and frees the key', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  bakery.next = () => Promise.reject(errors.BURNT());
  t.is((await send('k1')).body.code, 'BAKERY_BURNT');
  bakery.next = async () => undefined;
  t.is((await send('k1', undefined, { body: { flour: 7, of: 'wheat' } })).status, 201);
  t.is((await send('k1', undefined, { body: { flour: 'much' } })).status, 400, 'input is looked at first');
});

test('a call that failed before its transaction is handled again, and one that failed after it is not', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  const loaves = async () =>
    Number(
      (await (bakery.db as Database).query<{ n: number }>('SELECT COUNT(*) AS n FROM x_bakery_loaves'))[0]?.n,
    );
  const bake = (key: string, kind: string) => send(key, `/oven/${kind}`, { method: 'POST', body: {} });
  for (const failure of [errors.DARK(), new Error('the oven fell over')]) {
    bakery.next = () => Promise.reject(failure);
    t.true((await bake('before', 'noted')).status >= 500);
  }
  t.is((await bake('before', 'plain')).body.code, 'IDEMPOTENCY_OTHER_REQUEST');
  bakery.next = async () => undefined;
  const done = await bake('before', 'noted');
  t.deepEqual([done.status, done.body.obj, await loaves()], [200, { loaf: 1 }, 1]);
  t.is((await bake('before', 'noted')).text, done.text);

  bakery.afterwards = () => Promise.reject(new Error('the light went out'));
  for (const kind of ['noted', 'plain', 'long']) t.is((await bake(kind, kind)).status, 500);
  bakery.afterwards = async () => undefined;
  t.is(await loaves(), 4);
  await bake('other', 'plain');
  const again = await bake('noted', 'noted');
  t.deepEqual([again.status, again.body.msg, again.body.obj], [200, 'loaf 2', { loaf: 2 }]);
  t.is((await bake('noted', 'noted')).text, again.text, 'and now the reply is stored');
  t.is((await bake('plain', 'plain')).body.code, 'IDEMPOTENCY_UNKNOWN');
  t.is((await bake('long', 'long')).body.code, 'IDEMPOTENCY_NOT_KEPT');
  t.is(await loaves(), 5);
});

test('what a call has noted is its result, whatever follows in the call or in others', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  const db = bakery.db as Database;
  const insert = () => db.write((tx) => tx.run('INSERT INTO x_bakery_loaves (baked) VALUES (1)'));
  const bake = (key: string) => send(key, '/oven/noted', { method: 'POST', body: {} });

  bakery.afterwards = async () => {
    await insert();
    throw new Error('the light went out');
  };
  t.is((await bake('more-writes')).status, 500);
  bakery.afterwards = () => Promise.reject(errors.BURNT());
  t.is((await bake('more-writes')).status, 409, 'only the reply is refused, the loaf is baked');
  bakery.afterwards = async () => undefined;
  const again = await bake('more-writes');
  t.deepEqual([again.status, again.body.obj], [200, { loaf: 1 }]);

  // Another call ends between the beginning and the transaction of this one.
  let release: () => void = () => undefined;
  let begun = false;
  bakery.next = () => {
    begun = true;
    return new Promise((resolve) => (release = resolve));
  };
  bakery.afterwards = () => Promise.reject(new Error('the light went out'));
  const slow = bake('slow');
  await until(() => begun, 'the slow call bakes');
  bakery.next = async () => undefined;
  t.is((await send('quick', '/sentence')).status, 200);
  release();
  t.is((await slow).status, 500);
  bakery.afterwards = async () => undefined;
  t.deepEqual((await bake('slow')).body.obj, { loaf: 3 });
});

test('a refusal that comes after the change frees no key', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  const bake = () => send('k1', '/oven/noted', { method: 'POST', body: {} });
  bakery.afterwards = () => Promise.reject(errors.BURNT());
  t.is((await bake()).body.code, 'BAKERY_BURNT');
  bakery.afterwards = async () => undefined;
  const again = await bake();
  t.deepEqual([again.status, again.body.obj], [200, { loaf: 1 }], 'no second loaf');
});

test('replies are sealed in the database, as they may hold a token', async (t) => {
  const { bakery, panel } = await open();
  await using _ = panel;
  const create = () =>
    panel.call<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'robot' },
      headers: { 'Idempotency-Key': 'token-1' },
    });
  const first = await create();
  t.is((await create()).text, first.text);
  const rows = await (bakery.db as Database).query<{ reply: string; stage: string }>(
    'SELECT reply, stage FROM idempotent_calls',
  );
  t.deepEqual(
    rows.map(({ reply, stage }) => [reply.startsWith('weir1:'), stage]),
    [[true, 'done']],
  );
  t.false(JSON.stringify(rows).includes(first.body.obj.token));
});

test('a key of another caller is refused', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  const tokenOf = async (name: string) =>
    (await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name } })).token;
  const [ada, bob] = [await tokenOf('ada'), await tokenOf('bob')];
  const as = (token: string, key = 'k1') =>
    send(key, undefined, { anonymous: true, headers: { authorization: `Bearer ${token}` } });
  t.is((await as(ada)).status, 201);
  t.is((await as(ada)).status, 201);
  for (const other of [await as(bob), await send('k1')])
    t.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_OTHER_CALLER']);
  t.is(bakery.loaves, 1);
  await send('k2');
  await panel.login();
  t.is((await send('k2')).status, 201);
  t.is(bakery.loaves, 2, 'a new session is the same caller');
  t.is(
    (await as(await tokenOf('admin'), 'k2')).status,
    422,
    'a token with the name of an admin is another caller',
  );
  let release: () => void = () => undefined;
  let begun = false;
  bakery.next = () => {
    begun = true;
    return new Promise((resolve) => (release = resolve));
  };
  const first = as(ada, 'k3');
  await until(() => begun, 'the first call bakes');
  t.is((await as(bob, 'k3')).body.code, 'IDEMPOTENCY_OTHER_CALLER');
  release();
  t.is((await first).status, 201);
});

test('a header that is no key is refused before anything is done', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  for (const key of ['', ' ', '""', 'k'.repeat(256), 'a b', 'a,b', '"a', 'ä'.normalize('NFC'), '"a";x=1']) {
    const { status, body } = await send(key);
    t.deepEqual([status, body.code], [400, 'KERNEL_INVALID'], JSON.stringify(key));
  }
  t.is(bakery.loaves, 0);
  for (const key of ['k'.repeat(255), `"${'k'.repeat(254)} "`, '"a\\"b"'])
    t.is((await send(key, '/sentence')).status, 200, key);
});

test('a reply that is too large is not kept, and a repetition is told that it was done', async (t) => {
  const { bakery, panel, send } = await open();
  await using _ = panel;
  t.is((await send('k1', '/raw')).text.length, LARGEST_REPLY + 1);
  const { status, body } = await send('k1', '/raw');
  t.deepEqual([status, body.code, bakery.loaves], [409, 'IDEMPOTENCY_NOT_KEPT', 1]);
  t.is((await send('k2', '/raw')).text, 'xxx');
  const again = await send('k2', '/raw');
  t.deepEqual([again.text, again.headers.get('content-type'), bakery.loaves], ['xxx', 'text/plain', 2]);
});

test('replies are kept for a day, and one caller can keep so many', async (t) => {
  const clock = new FakeClock();
  const { bakery, panel, send } = await open({ clock });
  await using _ = panel;
  await send('k1');
  const db = bakery.db as Database;
  const kept = async () =>
    Number((await db.query<{ n: number }>('SELECT COUNT(*) AS n FROM idempotent_calls'))[0]?.n);
  const rows = JSON.stringify(Array.from({ length: MOST_CALLS - 1 }, (_, i) => [`id ${i}`]));
  await db.write((tx) =>
    tx.run(
      `INSERT INTO idempotent_calls (id, caller, fingerprint, began_at, size, reply, stage) SELECT j.id, c.caller, 'x', c.began_at, 0, '', 'done' FROM ${tx.sql.rows({ id: 'text' })} AS j, idempotent_calls c`,
      { rows },
    ),
  );
  const { status, body } = await send('k2');
  t.deepEqual([status, body.code], [429, 'IDEMPOTENCY_TOO_MANY']);
  t.is((await send('k1')).status, 201, 'what is kept is still replayed');
  t.is(bakery.loaves, 1);
  clock.tick(23 * HOUR);
  await panel.login();
  t.is((await send('k1')).headers.get('idempotency-replayed'), 'true');
  clock.tick(HOUR);
  await panel.login();
  t.is((await send('k1')).headers.get('idempotency-replayed'), null, 'forgotten after a day');
  t.is(bakery.loaves, 2);
  clock.tick(2 * HOUR);
  await panel.kernel.settled();
  t.is(await kept(), 1, 'what is old is swept');
});

test('replies count with their bytes, and only until they are a day old', async (t) => {
  const clock = new FakeClock();
  const { bakery, panel, send } = await open({ clock });
  await using _ = panel;
  await send('k1');
  const db = bakery.db as Database;
  // As if the reply had left room for one byte, and were a day old in a second, long before the next sweep.
  await db.write((tx) =>
    tx.run('UPDATE idempotent_calls SET size = :size, began_at = :beganAt', {
      size: MOST_BYTES - 1,
      beganAt: clock.now() - 24 * HOUR + 1_000,
    }),
  );
  t.is((await send('k2')).status, 201);
  const { status, body } = await send('k3');
  t.deepEqual([status, body.code, bakery.loaves], [429, 'IDEMPOTENCY_TOO_MANY', 2]);
  t.is((await send('k1')).headers.get('idempotency-replayed'), 'true');
  clock.tick(1_000);
  t.is((await send('k3')).status, 201);
  t.is((await send('k1')).headers.get('idempotency-replayed'), null, 'forgotten before it is swept');
  t.is(bakery.loaves, 4);
});

test('a route that cannot be repeated leaves its plugin out, and is named', async (t) => {
  const plugins = [
    { method: 'GET' },
    { auth: 'anyone' },
    { stream: true },
    { files: { backup: file({ maxBytes: 100 }) } },
    { reply: stream('text/csv'), handle: () => ({ body: Readable.from(['a']) }) },
  ].map((rest, i) =>
    definePlugin({
      name: `oven-${i}`,
      version: '1.0.0',
      api: 1,
      about: 'For a test.',
      routes: () => [
        route({
          method: 'POST',
          path: `/panel/api/x/oven-${i}/bread`,
          doc: 'x',
          reply: message(),
          idempotent: true,
          handle: () => '',
          ...(rest as object),
        }),
      ],
    }),
  );
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: plugins,
    partial: true,
  });
  const states = await panel.get<{ name: string; reason: string }[]>('/panel/api/system/plugins');
  for (const [i] of plugins.entries())
    t.regex(states.find(({ name }) => name === `oven-${i}`)?.reason ?? '', /\/bread: idempotent goes with/);
});
