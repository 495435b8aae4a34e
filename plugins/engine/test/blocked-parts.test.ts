// What of a composed config the guard keeps from the core, and what takes its place.
import test from 'ava';
import type { CoreGuardApi } from '../../core-guard/contract.js';
import type { Part } from '../config/claims.js';
import type { CorePart, JsonObject } from '../contract.js';
import { withoutBlocked } from '../config/blocked-parts.js';
import { unguarded } from './world.js';

const part = (entry: CorePart): Part => ({ plugin: 'test', entry });
const inbound = (id: number, more: object = {}): Part =>
  part({ inbound: { id, tag: `in-${id}`, protocol: 'vless', config: { port: 7000 + id, ...more } } });

test('a bad inbound or rule is left out, and a bad outbound lets nothing through under its tag', async (t) => {
  const seen: unknown[] = [];
  const guard: CoreGuardApi = {
    ...unguarded,
    problem: async (config, { inbounds }) => {
      seen.push(inbounds);
      return 'bad' in config ? 'it is bad' : undefined;
    },
  };
  const good = [
    inbound(1),
    part({ outbound: { tag: 'fine', protocol: 'freedom' } }),
    part({ rule: { outboundTag: 'fine' } }),
    part({ nameServer: { address: '9.9.9.9' } }),
    part({ nameServer: '9.9.9.9' }),
    part({ balancer: { tag: 'pool', selector: ['fine'] } }),
  ];
  const bad = [
    inbound(2, { bad: true }),
    part({ outbound: { tag: 'evil', protocol: 'freedom', bad: true } }),
    part({ rule: { outboundTag: 'evil', bad: true } }),
    part({ nameServer: { address: '9.9.9.9', bad: true } }),
    part({ balancer: { tag: 'odd', selector: ['fine'], bad: true } }),
  ];
  const { parts, blocked } = await withoutBlocked([...good, ...bad], {
    guard,
    open: { private: 'block', udp: 'single' },
  });
  t.deepEqual(parts, [
    ...good,
    part({ outbound: { tag: 'evil', protocol: 'blackhole' } }),
    part({ balancer: { tag: 'odd', selector: ['weir.blocked'] } }),
  ]);
  t.deepEqual(
    blocked.map(({ name, reason }) => `${name}: ${reason}`),
    [
      'in-2: it is bad',
      'outbound evil: it is bad',
      'rule {"outboundTag":"evil","bad":true}: it is bad',
      'name server {"address":"9.9.9.9","bad":true}: it is bad',
      'balancer odd: it is bad',
    ],
  );
  t.deepEqual(
    blocked.map(({ part }) => part),
    bad,
  );
  t.deepEqual(seen[0], [{ port: 7001 }, { port: 7002, bad: true }], 'the guard knows all inbounds');
});

test('what a check of another plugin rejects is left out, and what it is made of stays with a part', async (t) => {
  const checks = {
    of: async (entry: CorePart) => ('rule' in entry && 'bad' in entry.rule ? 'no such list' : undefined),
    madeOf: async (entry: CorePart) => ('rule' in entry ? 'list 7' : undefined),
  };
  const [good, bad, other] = [
    part({ rule: {} }),
    part({ rule: { bad: true } }),
    part({ outbound: { tag: 'a' } }),
  ];
  const { parts, blocked } = await withoutBlocked([good, bad, other], {
    guard: unguarded,
    checks,
    open: { private: 'block', udp: 'single' },
  });
  t.deepEqual(parts, [{ ...good, madeOf: 'list 7' }, other]);
  t.deepEqual(
    blocked.map(({ reason }) => reason),
    ['no such list'],
  );
});

test('a name with a private address is left out, unless users may reach those', async (t) => {
  const dns = (hosts: JsonObject) => part({ section: 'dns', value: { hosts } });
  const reasonOf = async (section: Part, allow: 'allow' | 'block') =>
    (await withoutBlocked([section], { guard: unguarded, open: { private: allow, udp: 'single' } }))
      .blocked[0]?.reason;
  t.is(await reasonOf(dns({ 'a.example': '203.0.113.1' }), 'block'), undefined);
  t.regex(
    (await reasonOf(dns({ 'a.example': ['9.9.9.9', '::1'] }), 'block')) ?? '',
    /hosts\.a\.example: ::1/,
  );
  t.is(await reasonOf(dns({ 'a.example': '10.0.0.1' }), 'allow'), undefined);
  for (const address of ['[127.0.0.1]', ' 127.0.0.1 ', '\u0085::1', ['[::ffff:10.0.0.1]']])
    t.regex((await reasonOf(dns({ 'a.example': address }), 'block')) ?? '', /is not public/, String(address));
  const section = (value: JsonObject) => part({ section: 'dns', value });
  t.regex((await reasonOf(section({ HOSTS: { 'a.example': '::1' } }), 'block')) ?? '', /HOSTS\.a\.example/);
  t.regex((await reasonOf(section({ useSystemHosts: true }), 'block')) ?? '', /useSystemHosts: \/etc\/hosts/);
  t.is(await reasonOf(section({ useSystemHosts: false }), 'block'), undefined);
  t.is(await reasonOf(section({ useSystemHosts: true }), 'allow'), undefined);
});
