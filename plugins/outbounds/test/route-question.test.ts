// What the core is asked for a route.
import test from 'ava';
import type { RouteQuestion } from '../../engine/contract.js';
import { findRoute } from '../route-question.js';

const BLANK = {
  inboundTag: '',
  domain: '',
  ip: '',
  port: 0,
  network: 'tcp',
  protocol: '',
  email: '',
} as const;

test('a client is asked for as its attachment to the inbound, and an address in its usual form', async (t) => {
  const asked: RouteQuestion[] = [];
  const needs = {
    coreRoutes: {
      route: async (question: RouteQuestion) => {
        asked.push(question);
        return { matched: true, outboundTag: 'x', isOwn: false, groupTags: [] };
      },
    },
    clients: { byEmail: (email: string) => (email === 'ann' ? { id: 7 } : undefined) },
    inbounds: { list: () => [{ id: 3, tag: 'home' }] },
  } as never;
  const ask = async (more: object) => {
    await findRoute(needs, { ...BLANK, ...more });
    return asked.at(-1);
  };
  t.like(await ask({ domain: 'A.Example', email: 'ann', inboundTag: 'home' }), {
    user: 'i3.c7',
    domain: 'a.example',
  });
  t.like(await ask({ domain: 'a', email: 'ann', inboundTag: 'other' }), { user: 'ann' });
  t.like(await ask({ domain: 'a', email: 'bob', inboundTag: 'home' }), { user: 'bob' });
  t.like(await ask({ ip: '::ffff:203.0.113.7' }), { ip: '203.0.113.7', user: '' });
  t.false('email' in (asked.at(-1) ?? {}));
  await t.throwsAsync(findRoute(needs, BLANK), { code: 'KERNEL_INVALID' });
  await t.throwsAsync(
    findRoute({ coreRoutes: undefined, clients: undefined, inbounds: undefined }, { ...BLANK, domain: 'a' }),
    { code: 'OUTBOUNDS_NO_CORE' },
  );
});
