// Replies of the program's API that are not as they should be, and what becomes of them.
import test from 'ava';
import type { ProgramReply, SidecarInstance, SidecarUser } from '../../sidecars/contract.js';
import { MtgApi } from '../mtg-api.js';

const user: SidecarUser = {
  inboundId: 1,
  clientId: 2,
  name: 'i1.c2',
  account: { protocol: 'mtproto', secret: 'ee11', adTag: '' },
};
const GONE = { inboundId: 1, clientId: 3 };

function answering(replies: Readonly<Record<string, ProgramReply>>) {
  const calls: string[] = [];
  const instance = {
    secret: 'ab',
    call: (_port: string, path: string, { method = 'GET' } = {}) => {
      calls.push(`${method} ${path}`);
      return Promise.resolve(replies[`${method} ${path}`] ?? { status: 200, body: {} });
    },
  };
  return { calls, instance: instance as unknown as SidecarInstance };
}
const reply = (status: number, body: unknown = {}): ProgramReply => ({ status, body });

test('a refusal of any step is a failure, and a secret that has gone already is none', async (t) => {
  for (const [path, status, isFine] of [
    ['DELETE /secrets/i1.c3', 500, false],
    ['DELETE /secrets/i1.c3', 401, false],
    ['DELETE /secrets/i1.c3', 409, false],
    ['DELETE /secrets/i1.c3', 404, true],
    ['DELETE /secrets/i1.c3', 204, true],
    ['POST /secrets', 400, false],
    ['POST /secrets', 302, false],
    ['POST /secrets', 201, true],
  ] as const) {
    const { instance, calls } = answering({ [path]: reply(status) });
    const { users } = await MtgApi.open(instance, 'ee00');
    const change = users?.change([user], [GONE]);
    if (isFine) await t.notThrowsAsync(async () => change);
    else await t.throwsAsync(async () => change, { message: new RegExp(`answers ${path} with ${status}`) });
    t.is(calls[1], 'DELETE /secrets/i1.c3', 'who loses access goes first');
  }
  const { instance } = answering({ 'PUT /secrets': reply(500) });
  const { users } = await MtgApi.open(instance, 'ee00');
  await t.throwsAsync(async () => users?.replace([user]), { message: /answers PUT \/secrets with 500/ });
});

test('the program is asked once whether it takes secrets; an answer that says neither is a failure', async (t) => {
  t.truthy((await MtgApi.open(answering({}).instance, '')).users);
  t.is((await MtgApi.open(answering({ 'GET /secrets': reply(404) }).instance, '')).users, undefined);
  for (const status of [401, 500, 0])
    await t.throwsAsync(MtgApi.open(answering({ 'GET /secrets': reply(status) }).instance, ''), {
      message: new RegExp(`answers GET /secrets with ${status}`),
    });
});

test('counters that are not there are a failure; names that nobody gave are skipped', async (t) => {
  const odd = JSON.parse(
    '{"users":{"i1.c2":{"bytes_in":1,"bytes_out":2},"nobody":{"bytes_in":9,"bytes_out":9},"__proto__":{"bytes_in":1},"x":null,"i1.c4":null}}',
  ) as unknown;
  const { instance } = answering({ 'GET /stats': reply(200, odd) });
  t.deepEqual(await MtgApi.read(instance), [
    { inboundId: 1, clientId: 2, up: 1, down: 2 },
    { inboundId: 1, clientId: 4, up: undefined, down: undefined },
  ] as never);
  for (const bad of [reply(200, undefined), reply(200, { users: null }), reply(200, []), reply(500, odd)])
    await t.throwsAsync(MtgApi.read(answering({ 'GET /stats': bad }).instance), { message: /no counters/ });
});

test('secrets are listed by name, in each of the forms that a program may use', async (t) => {
  for (const secrets of [
    ['nobody', 'i1.c2'],
    [{ name: 'nobody' }, { name: 'i1.c2', secret: 'ee' }],
    { nobody: {}, 'i1.c2': { secret: 'ee' } },
  ]) {
    const { instance } = answering({ 'GET /secrets': reply(200, { secrets }) });
    t.deepEqual(await (await MtgApi.open(instance, '')).users?.list?.(), [{ name: 'i1.c2' }]);
  }
  const { instance } = answering({ 'GET /secrets': reply(200, 'x') });
  const { users } = await MtgApi.open(instance, '');
  await t.throwsAsync(async () => users?.list?.(), { message: /no secrets/ });
});
