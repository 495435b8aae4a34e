// Runs on every database.
// The panel dies, the core does not.
import test from 'ava';
import { editDatabase } from '../harness/edit-database.js';
import { connect, counted, MIB, openPanel, openServer, usageOf, within } from './user.js';

test.serial(
  'a transfer outlives a panel that is killed; the next panel takes the core over and counts all of it, once',
  async (t) => {
    const server = await openServer(t);
    const first = await openPanel(t);
    const inboundId = await first.addInbound();
    await first.addClient('a', [inboundId]);
    const core = await first.corePid();
    t.truthy(core);
    const user = await connect(t, first, 'a', server);

    const bytes = 30 * MIB;
    let soFar = 0;
    const transfer = user.download(bytes, { rate: 2 * MIB, onBytes: (now) => (soFar = now) });
    const before = await counted(first, 'a', 1);
    t.true(before < bytes);
    t.deepEqual(await first.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
    const atDeath = soFar;
    await first.until(() => soFar > atDeath + 2 * MIB, 'the transfer goes on without a panel');

    const second = await openPanel(t, { dataDirectory: first.dataDirectory });
    t.like(second.said('a running core was found and taken over'), { pid: core });
    t.is(await second.corePid(), core);
    t.is(second.ready.engine, 'running');
    t.true(soFar < bytes, 'the transfer still runs');
    t.is(await transfer, bytes);
    const total = await counted(second, 'a', bytes);
    t.true(within(total, bytes), `counted ${total} of ${bytes}`);

    t.deepEqual(await second.kill('SIGTERM'), { code: 0, signal: null });
    const third = await openPanel(t, { dataDirectory: first.dataDirectory });
    t.not(await third.corePid(), core);
    t.is((await usageOf(third, 'a')).down, total);
    // Bytes of the new core show that a poll took place; nothing else came with them.
    await user.download(MIB);
    const more = await counted(third, 'a', total + MIB);
    t.true(within(more - total, MIB), `counted ${more - total} of ${MIB}`);
    const inbound = await third.get<{ down: number }>(`/panel/api/inbounds/get/${inboundId}`);
    t.is(inbound.down, more, 'the inbound has what its only client has');
  },
);

test.serial(
  'what was committed but never told to the core is made true at the take-over, without a restart',
  async (t) => {
    const server = await openServer(t);
    const first = await openPanel(t);
    const inboundIds = [await first.addInbound(), await first.addInbound({ protocol: 'trojan' })];
    for (const email of ['stays', 'goes', 'changes']) await first.addClient(email, inboundIds);
    const stays = await connect(t, first, 'stays', server);
    const goes = [await connect(t, first, 'goes', server, 0), await connect(t, first, 'goes', server, 1)];
    const changes = await connect(t, first, 'changes', server, 1);
    t.true((await Promise.all([stays, ...goes, changes].map((user) => user.served()))).every(Boolean));
    const core = await first.corePid();
    await first.kill('SIGKILL');
    await editDatabase(first.dataDirectory, [
      `UPDATE clients SET enable = 0 WHERE email = 'goes'`,
      `UPDATE clients SET password = 'another one' WHERE email = 'changes'`,
    ]);
    t.true(await goes[0]?.served(), 'the core goes on as it was');

    const second = await openPanel(t, { dataDirectory: first.dataDirectory });
    t.deepEqual(await Promise.all(goes.map((user) => user.served())), [false, false]);
    t.false(await changes.served());
    t.true(await (await connect(t, second, 'changes', server, 1)).served());
    t.true(await stays.served());
    t.is(await second.corePid(), core);
  },
);
