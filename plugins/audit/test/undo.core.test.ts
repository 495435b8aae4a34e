// A client whose deletion is undone is served again, and the counters that the core still has of it are not counted again.
import test from 'ava';
import { connect, counted, MIB, openPanel, openServer, poll, usageOf } from '../../../test/engine/user.js';

test('a client whose deletion is undone carries bytes again, and none counts twice', async (t) => {
  const panel = await openPanel(t);
  const server = await openServer(t);
  await panel.addClient('ann', [await panel.addInbound()]);
  const user = await connect(t, panel, 'ann', server, 0);
  t.is(await user.download(2 * MIB), 2 * MIB);
  const before = await counted(panel, 'ann', 2 * MIB);

  await panel.get('/panel/api/clients/del/ann', { method: 'POST' });
  t.false(await user.served());
  await poll(panel);
  const [{ entry }] = await panel.get<[{ entry: number }]>(
    '/panel/api/x/audit/changes?area=client&kind=deleted&limit=1',
  );
  await panel.get(`/panel/api/x/audit/${entry}/undo`, { method: 'POST' });
  t.true(await user.served());
  await poll(panel);
  await poll(panel);
  const { down } = await usageOf(panel, 'ann');
  t.true(down >= before && down < before + MIB, `${before} before, ${down} after the undo`);
  t.is(await user.download(MIB / 2), MIB / 2);
  const after = await counted(panel, 'ann', before + MIB / 2);
  t.true(after < before + 1.5 * MIB, `${after} is more than was moved`);
});
