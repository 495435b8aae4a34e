// Orders that end in another way than issued or refused, with a client that says what it is told.
import type { IncomingMessage, ServerResponse } from 'node:http';
import test from 'ava';
import type { Client } from 'acme-client';
import type { ListenersApi, LiveSettings } from '../../../kernel/index.js';
import type { PanelListenerApi } from '../../settings/contract.js';
import type { Library } from '../acme-library.js';
import { CaProblem } from '../ca-problem.js';
import { ChallengeAnswers } from '../challenge-answers.js';
import { OrderRun } from '../order-run.js';
import type { certificateSettings } from '../settings.js';

const answersOn = (name: string, validTo: string): ChallengeAnswers =>
  new ChallengeAnswers({
    listeners: { places: () => [{ name, port: 80 }] } as unknown as ListenersApi,
    listener: { certificateValidTo: () => validTo } as unknown as PanelListenerApi,
    settings: { read: () => ({ acmeHttpPort: 80, acmeTlsPort: 443 }) } as unknown as LiveSettings<
      typeof certificateSettings
    >,
  });
const { signal } = new AbortController();

test('a listener that has the port and cannot answer there is named', async (t) => {
  const answer = (name: string, validTo: string) =>
    answersOn(name, validTo).during('http-01', [], signal, async () => 'answered');
  t.is(await answer('panel', ''), 'answered');
  t.is(await answer('subscription', '2030-01-01T00:00:00Z'), 'answered');
  await t.throwsAsync(answer('panel', '2030-01-01T00:00:00Z'), {
    instanceOf: CaProblem,
    message: /^port 80 cannot answer .*: the listener panel of the panel has it and serves HTTPS; /,
  });
  await t.throwsAsync(answer('shop', ''), { message: /the listener shop of the panel has it; / });
});

test('a challenge is answered only while its order runs', async (t) => {
  const answers = answersOn('panel', '');
  const one = {
    challenge: 'http-01',
    name: 'a.example.com',
    token: 'tok',
    keyAuthorization: 'tok.x',
  } as const;
  const said: string[] = [];
  const response = { writeHead: () => undefined, end: (text: string) => said.push(text) };
  const ask = (): boolean =>
    answers.answer(
      { method: 'GET', url: '/.well-known/acme-challenge/tok' } as IncomingMessage,
      response as unknown as ServerResponse,
    );
  t.true(await answers.during('http-01', [one], signal, async () => ask()));
  t.deepEqual(said, ['tok.x']);
  t.false(ask());
});

for (const [status, isTemporary] of [
  ['processing', true],
  ['ready-soon', false],
] as const)
  test.serial(`an order that stays ${status} is ${isTemporary ? 'kept' : 'given up'}`, async (t) => {
    const order = {
      status,
      url: 'https://ca.example/order/1',
      finalize: 'https://ca.example/finalize/1',
      authorizations: [],
      identifiers: [{ type: 'dns', value: 'a.example.com' }],
    };
    const { now } = Date;
    t.teardown(() => (Date.now = now));
    let asked = 0;
    const client = {
      getOrder: async () => {
        Date.now = () => now() + ++asked * 100_000;
        return order;
      },
    } as unknown as Client;
    const run = new OrderRun(
      { client, library: {} as Library, answers: answersOn('panel', '') },
      {
        names: ['a.example.com'],
        challenge: 'http-01',
        key: '',
        url: order.url,
        confirmed: async () => undefined,
        signal,
      },
    );
    const error = await t.throwsAsync(run.run(), { instanceOf: CaProblem });
    t.regex(error.message, /did not finish within 3 minutes; the order is /);
    t.is(error.isTemporary, isTemporary);
  });

test('an order that fails is not asked for more proofs than it has names', async (t) => {
  const order = {
    status: 'ready',
    url: 'https://ca.example/order/1',
    finalize: 'https://ca.example/finalize/1',
    authorizations: ['https://ca.example/authz/1'],
    identifiers: [{ type: 'dns', value: 'a.example.com' }],
  };
  let asked = 0;
  const client = {
    getOrder: async () => order,
    finalizeOrder: async () => ({
      ...order,
      status: 'invalid',
      authorizations: Array.from({ length: 20_000 }, (_, i) => `https://ca.example/authz/${i}`),
    }),
    getAuthorizations: async ({ authorizations }: { authorizations: string[] }) => {
      asked += authorizations.length;
      return [];
    },
  } as unknown as Client;
  const library = { crypto: { createCsr: async () => ['', ''] } } as unknown as Library;
  const run = new OrderRun(
    { client, library, answers: answersOn('panel', '') },
    {
      names: ['a.example.com'],
      challenge: 'http-01',
      key: '',
      url: order.url,
      confirmed: async () => undefined,
      signal,
    },
  );
  await t.throwsAsync(run.run(), { instanceOf: CaProblem, message: /1 names with 20000 authorizations/ });
  t.is(asked, 0);
});
