// The core's log with places: what was written after one, by filter, and over a core that begins again.
import test from 'ava';
import type { CoreLogEntry } from '../../engine/contract.js';
import { FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';

interface Tail {
  readonly lines: readonly { readonly ToAddress: string }[];
  readonly end: string;
  readonly goesOn: boolean;
  readonly leftOut: number;
}

test('a tail goes on where an earlier one ended, whatever it is filtered by', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const connect = (to: string, way: CoreLogEntry['way'] = 'direct') =>
    void engine.connections.push({
      ...{ at: 1_700_000_000_000, from: '192.0.2.1:5000', to, inbound: 'in', outbound: 'out' },
      ...{ way, user: undefined, name: 'i1.c1' },
    });
  const tail = (query: string) => panel.get<Tail>(`/panel/api/x/engine-logs/tail?${query}`);
  const targets = ({ lines }: Tail) => lines.map(({ ToAddress }) => ToAddress);
  for (let i = 1; i <= 5; i++) connect(`host${i}`);
  const first = await tail('count=2');
  t.deepEqual(targets(first), ['host4', 'host5']);
  t.deepEqual([first.goesOn, first.leftOut], [false, 0]);
  connect('host6');
  connect('blocked7', 'blocked');
  const next = await tail(`after=${first.end}`);
  t.deepEqual(targets(next), ['host6', 'blocked7']);
  t.true(next.goesOn);
  t.deepEqual(targets(await tail(`after=${first.end}&filter=HOST`)), ['host6']);
  t.deepEqual(targets(await tail(`after=${first.end}&showBlocked=false`)), ['host6']);
  t.deepEqual(targets(await tail('filter=host1')), ['host1']);
  t.deepEqual(targets(await tail(`after=${next.end}`)), []);
  for (let i = 8; i <= 20; i++) connect(`host${i}`);
  const few = await tail(`count=3&after=${next.end}`);
  t.deepEqual(targets(few), ['host18', 'host19', 'host20']);
  t.is(few.leftOut, 10);
  engine.restart('second');
  const again = await tail(`count=1&after=${few.end}`);
  t.deepEqual([targets(again), again.goesOn], [['host20'], false]);
  engine.enter('stop');
  t.deepEqual(await tail(`after=${again.end}`), { lines: [], end: '', goesOn: false, leftOut: 0 });
  const invalid = { status: 400, code: 'KERNEL_INVALID' };
  for (const [query, field] of [
    ['count=0', 'count'],
    ['after=1', 'after'],
    ['showDirect=maybe', 'showDirect'],
    [`filter=${'x'.repeat(300)}`, 'filter'],
  ] as const)
    await refused(t, panel, `/panel/api/x/engine-logs/tail?${query}`, {}, { ...invalid, field });
});
