// Runs on every database in test:full.
// Archives go into another panel, which then writes the same archive.
import test from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { inboundBodies } from '../../../test/harness/inbound-bodies.js';
import { random } from '../../../test/harness/random.js';
import { selfSigned } from '../../../test/harness/self-signed.js';
import { archiveOf, boot, bring, comparable, fill, linesOf } from './archive-world.js';

const kindOf = (text: string, kind: string) => comparable(linesOf(text)).filter((line) => line.kind === kind);

for (const seed of [1, 20_261_124])
  test(`random records of all protocols are equal after a round trip, seed ${seed}`, async (t) => {
    const bodies = await inboundBodies(await folderFor(t), selfSigned());
    await using old = await boot();
    await fill(old, random(seed), bodies, 40);
    const text = await archiveOf(old);
    const kinds = new Set(linesOf(text).map(({ kind }) => kind));
    for (const kind of ['settings', 'inbounds', 'groups', 'clients', 'hosts', 'fallbacks', 'sub-balancers'])
      t.true(kinds.has(kind), `the archive has no ${kind}`);

    await using fresh = await boot();
    const dry = await bring(fresh, text, {});
    t.false(dry.applied);
    t.is(linesOf(await archiveOf(fresh)).filter(({ kind }) => kind !== 'settings').length, 0);
    const report = await bring(fresh, text, { apply: 'true', settings: 'true' });
    for (const { kind, records, taken, left, sums } of report.kinds) {
      t.deepEqual(left, [], kind);
      t.is(taken, records, kind);
      for (const sum of sums) t.is(sum.after, sum.archive, `${kind} ${sum.name}`);
    }
    t.deepEqual(
      dry.kinds.filter(({ kind }) => kind !== 'settings').map(({ kind, taken }) => [kind, taken]),
      report.kinds.filter(({ kind }) => kind !== 'settings').map(({ kind, taken }) => [kind, taken]),
    );
    const again = await archiveOf(fresh);
    for (const kind of kinds) t.deepEqual(kindOf(again, kind), kindOf(text, kind), kind);
    t.deepEqual(fresh.faults, []);

    // A second time, all of it is here.
    const twice = await bring(fresh, text);
    for (const { kind, taken, leftCount, records } of twice.kinds)
      if (kind !== 'settings') t.deepEqual([taken, leftCount], [0, records], kind);
    t.is((await archiveOf(fresh)).split('\n').length, again.split('\n').length);
  });
