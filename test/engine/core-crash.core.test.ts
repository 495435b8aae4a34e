// The core dies, the panel does not.
import test from 'ava';
import { connect, counted, engineOf, MIB, openPanel, openServer, usageOf, within } from './user.js';

test('a core that is killed is started again; counters go on from where they were and never back', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  await panel.addClient('a', [await panel.addInbound()]);
  const user = await connect(t, panel, 'a', server);
  const core = await panel.corePid();
  await user.download(4 * MIB);
  const before = await counted(panel, 'a', 4 * MIB);

  process.kill(core ?? 0, 'SIGKILL');
  let least = before;
  const backwards: number[] = [];
  const look = async (): Promise<void> => {
    const { down } = await usageOf(panel, 'a');
    if (down < least) backwards.push(down);
    least = Math.max(least, down);
  };
  await panel.until(async () => {
    await look();
    return panel.log.some((line) => line.msg === 'core state changed' && line['to'] === 'error');
  }, 'the panel notices');
  await panel.until(async () => {
    await look();
    return (await engineOf(panel)).state === 'running';
  }, 'a new core runs');
  t.not(await panel.corePid(), core);
  t.regex(
    String(panel.said('the core ended by itself; what moved since the last poll is not counted')?.['reason']),
    /SIGKILL/,
  );

  // More bytes than the old core had counted: a counter taken for the old one's would seem to have grown by the rest alone.
  const more = 6 * MIB;
  await user.download(more);
  await panel.until(async () => {
    await look();
    return least >= before + more;
  }, 'the new core is counted on top');
  t.deepEqual(backwards, []);
  t.true(within(least - before, more), `${least - before} of ${more}`);
});
