import test from 'ava';
import { baseDifference, difference, planOf, digestsOf } from '../config/plan.js';
import { HookRegistry } from '../../../kernel/hooks/registry.js';
import type { EventQueue } from '../../../timing/event-queue.js';
import { tap } from '../../../kernel/index.js';
import { composeCoreConfig, type CorePart, type JsonObject } from '../contract.js';

async function plan(...parts: CorePart[]) {
  const registry = new HookRegistry();
  registry.declare('engine', [composeCoreConfig]);
  const tapper = {
    name: 'test',
    about: '',
    isOff: false,
    offReason: '',
    queue: undefined as unknown as EventQueue,
    fault: () => undefined,
  };
  registry.add(
    tapper,
    tap(composeCoreConfig, (add) => add(...parts)),
  );
  const composed = await registry.of('engine').compose(composeCoreConfig, undefined);
  return planOf(composed, { private: 'allow', udp: 'single' }, () => undefined);
}
const inbound = (tag: string, config: JsonObject, id = 1): CorePart => ({
  inbound: { id, tag, protocol: 'vless', config },
});

test('the order of keys does not make another config', async (t) => {
  const one = await plan(inbound('a', { port: 1, settings: { x: 1, y: [1, { p: 2, q: 3 }] } }));
  const other = await plan(inbound('a', { settings: { y: [1, { q: 3, p: 2 }], x: 1 }, port: 1 }));
  t.deepEqual(difference(other, digestsOf(one)), { put: [], remove: [] });
  t.is(baseDifference(one, other.digests), 'none');
});

test('the order of a list does', async (t) => {
  const one = await plan(inbound('a', { list: [1, 2] }));
  const other = await plan(inbound('a', { list: [2, 1] }));
  t.deepEqual(
    difference(other, digestsOf(one)).put.map(({ tag }) => tag),
    ['a'],
  );
});

test('new and changed inbounds are put, missing ones removed, others left alone', async (t) => {
  const running = digestsOf(
    await plan(
      inbound('same', { port: 1 }, 1),
      inbound('changed', { port: 2 }, 2),
      inbound('gone', { port: 3 }, 3),
    ),
  );
  const { put, remove } = difference(
    await plan(
      inbound('same', { port: 1 }, 1),
      inbound('changed', { port: 22 }, 2),
      inbound('new', { port: 4 }, 4),
    ),
    running,
  );
  t.deepEqual(
    put.map(({ tag }) => tag),
    ['changed', 'new'],
  );
  t.deepEqual(remove, ['gone']);
});

test('an inbound whose change may not have been carried out is put again', async (t) => {
  const wanted = await plan(inbound('a', { port: 1 }));
  t.deepEqual(
    difference(wanted, { ...digestsOf(wanted), inbounds: { a: '' } }).put.map(({ tag }) => tag),
    ['a'],
  );
});

test('an inbound does not change the base; outbounds and rules change it while the core runs, the rest needs a restart', async (t) => {
  const bare = await plan();
  const change = async (part: CorePart) => baseDifference(await plan(part), bare.digests);
  t.is(await change(inbound('a', { port: 1 })), 'none');
  t.deepEqual(await change({ outbound: { tag: 'x', protocol: 'freedom' } }), {
    put: ['x'],
    remove: [],
    rules: false,
  });
  t.deepEqual(await change({ rule: { type: 'field', port: '1', outboundTag: 'direct' } }), {
    put: [],
    remove: [],
    rules: true,
  });
  t.deepEqual(await change({ outbound: { tag: 'x', protocol: 'socks' }, isDefault: true }), {
    put: ['x'],
    remove: [],
    rules: true,
    previousFirst: 'direct',
  });
  t.is(await change({ nameServer: '9.9.9.9' }), 'restart');
  t.is(await change({ section: 'policy', value: { levels: {} } }), 'restart');
});

test('private targets are refused before every added rule, unless they are allowed', async (t) => {
  const registry = new HookRegistry();
  registry.declare('engine', [composeCoreConfig]);
  const tapper = {
    name: 'test',
    about: '',
    isOff: false,
    offReason: '',
    queue: undefined as unknown as EventQueue,
    fault: () => undefined,
  };
  registry.add(
    tapper,
    tap(composeCoreConfig, (add) => add({ rule: { type: 'field', port: '25', outboundTag: 'blackhole' } })),
  );
  const rulesOf = async (allow: 'allow' | 'block') =>
    (
      planOf(
        await registry.of('engine').compose(composeCoreConfig, undefined),
        { private: allow, udp: 'single' },
        () => undefined,
      ).base['routing'] as {
        rules: { outboundTag: string; port?: string; ip?: string[] }[];
      }
    ).rules;
  const guarded = await rulesOf('block');
  const added = guarded.findIndex(({ port }) => port === '25');
  t.true(added > 0);
  t.true(guarded.slice(0, added).every(({ outboundTag }) => outboundTag === 'weir.blocked'));
  t.true(guarded.slice(0, added).some(({ ip }) => ip?.includes('127.0.0.0/8') && ip.includes('::/96')));
  t.deepEqual(
    (await rulesOf('allow')).map(({ port }) => port),
    ['25', undefined],
  );
});

test('an outbound is removed whatever its tag is called', async (t) => {
  const running = digestsOf(await plan({ outbound: { tag: 'toString', protocol: 'freedom' } }));
  t.like(baseDifference(await plan(), running), { remove: ['toString'] });
});

test('rules have tags of their own, also when they are equal, and a changed balancer is another config', async (t) => {
  const rule: CorePart = { rule: { port: '1', outboundTag: 'direct', ruleTag: 'moved~1' } };
  const { base, digests } = await plan(rule, rule, { balancer: { tag: 'pool', selector: ['a'] } });
  const { rules } = base['routing'] as unknown as { rules: { ruleTag: string }[] };
  const tags = rules.map(({ ruleTag }) => ruleTag);
  t.is(new Set(tags).size, 3);
  t.true(
    tags.every((tag) => !/~\d+$/.test(tag)),
    'such an end is for a rule that moves',
  );
  t.true(tags[0]?.endsWith('.moved-1'));
  const other = await plan(rule, rule, { balancer: { tag: 'pool', selector: ['b'] } });
  t.like(baseDifference(other, { ...digests, inbounds: {} } as never), { rules: true });
});

test('a rule with addresses has names looked up only where it asks for that', async (t) => {
  const last = async (looksUp: boolean) => {
    const { base } = await plan({ rule: { ip: ['192.0.2.1'], outboundTag: 'direct' }, looksUp });
    return (base['routing'] as unknown as { rules: JsonObject[] }).rules.at(-1)?.['ip'];
  };
  t.truthy(await last(true));
  t.is(await last(false), undefined);
});
