// What an old endpoint calls, and how a failure is told, without a panel.
import test from 'ava';
import { kernelErrors, type SessionsApi } from '../../../kernel/index.js';
import type { ClientRow, ClientsApi } from '../../clients/contract.js';
import { type Input, refusal } from '../adapted-route.js';
import type { Call } from '../names.js';
import { OLD_ENDPOINTS } from '../old-endpoints.js';

const row = (email: string, more: Partial<ClientRow> = {}) => ({
  email,
  uuid: `uuid of ${email}`,
  password: `password of ${email}`,
  auth: `auth of ${email}`,
  inboundIds: [1],
  ...more,
});
function stepsOf(call: Call, rows: readonly object[], input: object) {
  const all = rows as ClientRow[];
  const clients = {
    all: () => all.values(),
    owner: (field: 'email' | 'uuid' | 'password' | 'auth', value: string) =>
      all.find((one) => one[field] === (field === 'uuid' ? value.toLowerCase() : value)),
  } as unknown as ClientsApi;
  const known = { clients, sessions: {} as SessionsApi, now: 0 };
  return OLD_ENDPOINTS[call]?.steps({ params: {}, ...input } as unknown as Input, known) ?? [];
}

const DELETE = 'POST /panel/api/inbounds/{id}/delClient/{clientId}';
test('a client is found by each of its credentials, and only in its inbound', (t) => {
  const rows = [row('ann', { inboundIds: [2] }), row('bob')];
  for (const clientId of ['bob', 'uuid of bob', 'password of bob', 'auth of bob'])
    t.deepEqual(
      stepsOf(DELETE, rows, { params: { id: '1', clientId } }),
      [{ call: 'POST /panel/api/clients/del/{email}', params: { email: 'bob' } }],
      clientId,
    );
  for (const clientId of ['ann', 'uuid of ann', 'password of ann', 'auth of ann', ''])
    t.throws(() => stepsOf(DELETE, rows, { params: { id: '1', clientId } }), { message: /has no client/ });
});

test('a client whose name is the credential of another is found first', (t) => {
  const rows = [row('ann', { password: 'bob' }), row('bob')];
  const [step] = stepsOf(DELETE, rows, { params: { id: '1', clientId: 'bob' } });
  t.deepEqual(step?.params, { email: 'bob' });
});

test('the client with a UUID is shown in a list', (t) => {
  const call = 'GET /panel/api/inbounds/getClientTrafficsById/{id}';
  const shown = (id: string) =>
    stepsOf(call, [row('ann'), row('bob')], { params: { id } }).map(({ params }) => params);
  t.deepEqual(shown('UUID of bob'), [{ email: 'bob' }]);
  t.deepEqual(shown('nobody'), []);
  t.deepEqual(OLD_ENDPOINTS[call]?.obj?.([1, 2]), [1, 2]);
});

test('many clients of an inbound are reset in several calls, each of them once', (t) => {
  const rows = Array.from({ length: 25_000 }, (_, i) => row(`c${i}`));
  const steps = stepsOf('POST /panel/api/inbounds/resetAllClientTraffics/{id}', rows, {
    params: { id: '1' },
  });
  const emails = steps.map(({ body }) => (body as { readonly emails: readonly string[] }).emails);
  t.deepEqual(
    emails.map(({ length }) => length),
    [10_000, 10_000, 5000],
  );
  t.is(new Set(emails.flat()).size, 25_000);
});

test('one addClient has at most a thousand clients, and tells nothing of the last', (t) => {
  const ADD = 'POST /panel/api/inbounds/addClient';
  const body = (length: number) => ({
    body: {
      id: 1,
      settings: { clients: Array.from({ length }, (_, i) => ({ email: `c${i}`, tgId: null })) },
    },
  });
  const steps = stepsOf(ADD, [], body(1000));
  t.is(steps.length, 1000);
  t.deepEqual(steps[999]?.body, { client: { email: 'c999' }, inboundIds: [1] });
  t.throws(() => stepsOf(ADD, [], body(1001)), { message: /1 to 1000 clients/ });
  t.is(OLD_ENDPOINTS[ADD]?.obj?.([{ email: 'c0' }]), null);
});

test('a failure is told with its field and its headers, and one that calls for a login stays one', (t) => {
  const headers: Record<string, string> = {};
  const input = {
    reply: { header: (name: string, value: string) => void (headers[name] = value) },
  } as unknown as Input;
  const wrong = kernelErrors.INVALID('size must be a number', { path: 'size' });
  Object.assign(wrong.headers, { 'retry-after': '7' });
  const told = refusal(wrong, input).obj as Record<string, unknown>;
  t.like(told, {
    success: false,
    msg: 'size must be a number',
    code: 'KERNEL_INVALID',
    obj: { issues: [{ path: 'size', message: 'size must be a number' }] },
  });
  t.deepEqual(headers, { 'retry-after': '7' });
  for (const stays of [
    kernelErrors.UNAUTHORIZED(),
    kernelErrors.CSRF(),
    kernelErrors.PLUGIN_OFF('it is off'),
    kernelErrors.INTERNAL(),
    new TypeError('a bug'),
  ])
    t.is(t.throws(() => refusal(stays, input), { any: true } as never) as unknown, stays);
});
