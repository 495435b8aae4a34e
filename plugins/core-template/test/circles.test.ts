// Loopback outbounds: what comes from them goes through the rules again.
import test from 'ava';
import type { JsonObject } from '../../engine/contract.js';
import { partsOf } from '../template-parts.js';

const loop = (tag: string, inboundTag: string): JsonObject => ({
  tag,
  protocol: 'loopback',
  settings: { inboundTag },
});
const direct: JsonObject = { tag: 'direct', protocol: 'freedom' };
const found = (
  outbounds: readonly JsonObject[],
  rules: readonly JsonObject[],
  balancers: readonly JsonObject[] = [],
) =>
  partsOf({ outbounds, routing: { rules, balancers } }).issues.map(({ path }) =>
    path.replace('engineSetting.', ''),
  );

test('a loopback to which its own traffic may come again is named', (t) => {
  const first = loop('a', 'again');
  const cases: readonly [string, readonly JsonObject[], readonly JsonObject[], (readonly JsonObject[])?][] = [
    ['as the first outbound', [first], []],
    ['by a rule for all', [direct, first], [{ domain: ['x.example'], outboundTag: 'a' }]],
    ['by a rule for its tag', [direct, first], [{ inboundTag: 'other,again', port: '1', outboundTag: 'a' }]],
    [
      'before the rule that ends it',
      [direct, first],
      [
        { port: '1', outboundTag: 'a' },
        { inboundTag: ['again'], outboundTag: 'direct' },
      ],
    ],
    [
      'past a rule for one network',
      [first],
      [{ inboundTag: ['again'], network: 'tcp', outboundTag: 'direct' }],
    ],
    [
      'by a balancer',
      [direct, first],
      [{ port: '1', balancerTag: 'pool' }],
      [{ tag: 'pool', selector: ['a'] }],
    ],
    [
      'by a fallback',
      [direct, first],
      [{ port: '1', balancerTag: 'pool' }],
      [{ tag: 'pool', selector: ['none'], fallbackTag: 'a' }],
    ],
  ];
  for (const [name, outbounds, rules, balancers] of cases)
    t.true(
      found(outbounds, rules, balancers).includes(
        `outbounds.${outbounds.indexOf(first)}.settings.inboundTag`,
      ),
      name,
    );
  t.deepEqual(
    found(
      [direct, loop('a', 'in-a'), loop('b', 'in-b')],
      [
        { inboundTag: ['in-a'], outboundTag: 'b' },
        { inboundTag: ['in-b'], outboundTag: 'a' },
      ],
    ),
    ['outbounds.1.settings.inboundTag', 'outbounds.2.settings.inboundTag'],
  );
  const dialer = { ...direct, tag: 'c', streamSettings: { sockopt: { dialerProxy: 'a' } } };
  t.deepEqual(found([direct, first, dialer], [{ inboundTag: ['again'], outboundTag: 'c' }]), [
    'outbounds.1.settings.inboundTag',
    'outbounds.2.streamSettings.sockopt.dialerProxy',
  ]);
});

test('one whose traffic ends somewhere is taken', (t) => {
  const cases: readonly (readonly JsonObject[])[] = [
    [],
    [
      { inboundTag: ['again'], outboundTag: 'direct' },
      { domain: ['x.example'], outboundTag: 'a' },
    ],
    [
      { inboundTag: ['again'], network: 'udp, tcp', outboundTag: 'direct' },
      { outboundTag: 'a', port: '1' },
    ],
    [{ inboundTag: ['elsewhere'], outboundTag: 'a' }],
    [{ enabled: false, port: '1', outboundTag: 'a' }],
  ];
  for (const rules of cases)
    t.deepEqual(found([direct, loop('a', 'again')], rules), [], JSON.stringify(rules));
});

test('a portal has a tag of its own', (t) => {
  const portals = (...tags: string[]) =>
    partsOf({ outbounds: [direct], reverse: { portals: tags.map((tag) => ({ tag, domain: 'a.example' })) } })
      .issues;
  t.deepEqual(portals('p', 'q'), []);
  t.is(portals('direct')[0]?.path, 'engineSetting.reverse.portals.0.tag');
  t.is(portals('p', 'p')[0]?.path, 'engineSetting.reverse.portals.1.tag');
});
