// Rules and balancers that lead nowhere, and parts of which the core tells nothing but bytes.
import test from 'ava';
import type { Part } from '../config/claims.js';
import type { CorePart } from '../contract.js';
import { findCulprits } from '../config/culprits.js';
import { deadEnds, withoutDeadEnds } from '../config/dead-ends.js';
import { runningParts } from '../xray/running-parts.js';

const part = (entry: CorePart): Part => ({ plugin: 'test', entry });

test('a rule or balancer that leads to nothing is named, and one that leads somewhere is not', (t) => {
  const fine = [
    part({ outbound: { tag: 'a', protocol: 'socks' } }),
    part({ balancer: { tag: 'pool', selector: ['a'], fallbackTag: 'direct' } }),
    part({ balancer: { tag: 'other', selector: ['a'], fallbackTag: '' } }),
    part({ rule: { outboundTag: 'a' } }),
    part({ rule: { outboundTag: '', balancerTag: 'pool' } }),
    part({ rule: { outboundTag: 'blocked', balancerTag: 'gone' } }),
  ];
  const dead = [
    part({ balancer: { tag: 'odd', selector: ['a'], fallbackTag: 'gone' } }),
    part({ rule: { port: '1' } }),
    part({ rule: { outboundTag: 'gone' } }),
    part({ rule: { balancerTag: 'gone' } }),
  ];
  const all = [...fine, ...dead];
  const found = deadEnds(all, new Set(all.map(({ entry }) => entry)));
  t.deepEqual(
    found.map(({ part: entry }) => entry),
    dead.map(({ entry }) => entry),
  );
  for (const [at, says] of [
    'fallbackTag: no outbound',
    'it needs',
    'outboundTag: no',
    'balancerTag: no',
  ].entries())
    t.true(found[at]?.reason.startsWith(says), found[at]?.reason);
  t.deepEqual(deadEnds(all, new Set()), []);
  t.deepEqual(withoutDeadEnds(all), fine);
});

test('an outbound whose entries the core returns in another order is the same one', async (t) => {
  const digest = async (bytes: number[]) => {
    const api = {
      inboundTags: async () => [],
      routing: { outbounds: async () => new Map([['a', Uint8Array.from(bytes)]]), ruleTags: async () => [] },
    };
    return (await runningParts(api as never)).outbounds.get('a');
  };
  t.is(await digest([1, 2, 3]), await digest([3, 1, 2]));
  t.not(await digest([1, 2, 3]), await digest([1, 2, 4]));
});

test('a search for what the core rejects ends when it has taken too long', async (t) => {
  let tests = 0;
  const found = await findCulprits(
    ['a', 'b', 'c', 'd'],
    'no',
    async (kept) => {
      tests += 1;
      return kept.length > 0 ? 'no' : undefined;
    },
    0,
  );
  t.is(tests, 1);
  t.is(found?.size, 4);
});
