// Runs on every database in test:full.
// Runs Redis
// Live messages of one panel reach the sockets at the other one, and figures of the leader are those of all.
import { Redis } from 'ioredis';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { RedisServer } from '../../../test/harness/redis-server.js';
import { Panels } from '../../cluster/test/two-panels.js';
import { Listener } from './listener.js';

const onServer = onSqlite ? test.skip : test.serial;
const AWAY = 'Redis does not answer: sockets get the messages of this panel only, until it does';

/** Another panel may write the same at the same moment; then the call is repeated. */
const unlessBusy = (error: unknown): void => {
  if (!String(error).includes('KERNEL_DATABASE_BUSY')) throw error;
};
const job = (panel: PanelProcess) =>
  panel.get('/panel/api/x/jobs', { body: { action: 'enable', filter: {} } }).catch(unlessBusy);
const resets = (panel: PanelProcess) =>
  panel.get('/panel/api/clients/resetTraffic/ada', { method: 'POST' }).catch(unlessBusy);
const staleClients = (listener: Listener): number =>
  listener.of<{ type: string }>('invalidate').filter(({ payload }) => payload.type === 'clients').length;

onServer('readers at both panels get what happens in one of them', async (t) => {
  const redis = await RedisServer.start();
  t.teardown(() => redis.stop());
  await using panels = await Panels.open();
  const env = { WEIR_REDIS: redis.url };
  const [a, b] = [await panels.start('a', env), await panels.start('b', env)];
  const inbound = await a.addInbound({ remark: 'shared' });
  await a.addClient('ada', [inbound]);
  const atA = Listener.io(a);
  const atB = Listener.plain(b);
  t.teardown(() => [atA, atB].forEach((listener) => void listener.close()));
  await Promise.all([atA.first('snapshot'), atB.first('snapshot')]);

  // The leader does the job, and only it knows of the progress.
  await a.until(async () => {
    await job(b);
    return atA.of('client_jobs').length > 0 && atB.of('client_jobs').length > 0;
  }, 'both get the progress of jobs');
  // An event of the panel that does not lead.
  const before = [staleClients(atA), staleClients(atB)] as const;
  await b.until(async () => {
    await resets(b);
    return staleClients(atA) > before[0] && staleClients(atB) > before[1];
  }, 'both learn that clients are out of date');

  // Whoever can write to Redis breaks nothing.
  const stranger = new Redis(redis.url);
  t.teardown(() => stranger.disconnect());
  const [stream = ''] = await stranger.keys('weir:live:*');
  t.not(stream, '');
  t.true((await stranger.xlen(stream)) <= 128);
  const junk: string[][] = [
    ['from', 'x', 'kind', 'state', 'type', 'status', 'body', '{"broken'],
    ['from', 'x', 'kind', 'other', 'type', 'status', 'body', '{}'],
    ['from', 'x', 'kind', 'state', 'type', 't'.repeat(1_000), 'body', '{}'],
    ['from', 'x', 'kind', 'state', 'type', 'large', 'body', JSON.stringify('x'.repeat(600_000))],
    ['nothing', 'of', 'it', 'is', 'known', '!'],
  ];
  for (const fields of junk) await stranger.xadd(stream, '*', ...fields);
  await stranger.xadd(stream, '*', 'from', 'x', 'kind', 'state', 'type', 'greeting', 'body', '{"hello":1}');
  t.deepEqual((await atB.first('greeting')).payload, { hello: 1 });
  t.deepEqual([atB.of('large').length, atB.of('t'.repeat(1_000)).length], [0, 0]);
  t.deepEqual([...a.faults, ...b.faults], []);
});

onServer('without its Redis a panel goes on with its own messages, and with it again', async (t) => {
  const redis = await RedisServer.start();
  t.teardown(() => redis.stop());
  await using panels = await Panels.open();
  const env = { WEIR_REDIS: redis.url };
  const [a, b] = [await panels.start('a', env), await panels.start('b', env)];
  const inbound = await a.addInbound({ remark: 'shared' });
  await a.addClient('ada', [inbound]);
  const [atA, atB] = [Listener.plain(a), Listener.io(b)];
  t.teardown(() => [atA, atB].forEach((listener) => void listener.close()));
  await Promise.all([atA.first('snapshot'), atB.first('snapshot')]);
  await redis.stop();
  await a.until(() => a.said(AWAY) !== undefined && b.said(AWAY) !== undefined, 'the log says so');
  const own = staleClients(atB);
  await resets(b);
  await b.until(() => staleClients(atB) > own, 'its own messages go on');
  t.is(a.log.filter(({ msg }) => msg === AWAY).length, 1, 'once, not at each attempt');
  // An edit is told over the database.
  const edited = staleClients(atA);
  await b.get('/panel/api/clients/update/ada', { body: { email: 'ada', comment: 'edited' } });
  await a.until(() => staleClients(atA) > edited, 'the other panel tells of an edit');
  await redis.resume();
  await a.until(() => a.said('Redis answers again') !== undefined, 'the log says that it answers');
  const before = staleClients(atA);
  await b.until(async () => {
    await resets(b);
    return staleClients(atA) > before;
  }, 'messages reach the other panel again');
  t.deepEqual([...a.faults, ...b.faults], []);
});

onServer('each panel shows the core of the leader', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  const core = async (panel: PanelProcess) =>
    (await panel.get<{ engine: { state: string; errorMsg: string } }>('/panel/api/server/status')).engine;
  await a.until(async () => (await core(a)).errorMsg !== '', 'the leader knows why it has no core');
  const { state, errorMsg } = await core(a);
  await b.until(async () => (await core(b)).errorMsg === errorMsg, 'the other panel says the same');
  t.is((await core(b)).state, state);
});

test.serial('an invalid address is refused, without its password', async (t) => {
  const env = { WEIR_REDIS: 'http://user:secret-word@host:1/' };
  const error = await t.throwsAsync(PanelProcess.start({ env }));
  t.regex(error?.message ?? '', /WEIR_REDIS/);
  t.notRegex(error?.message ?? '', /secret-word/);
});
