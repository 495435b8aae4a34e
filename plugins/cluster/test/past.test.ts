// Runs on every database in test:full.
// A database that answers from the past: a replica that is behind, or a backup that was restored under a running panel.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test;
const REASON = 'the database answers from the past';

onServer('a panel writes nothing into a database that lacks what it knows, and reads it again', async (t) => {
  await using panels = await Panels.open();
  const panel = await panels.start('a', { WEIR_PRESET: 'minimal' });
  await panel.addInbound({ remark: 'before' });
  const kept = await panels.query<{ last: number }>('SELECT last FROM cluster_state');
  await panel.addInbound({ remark: 'later' });
  // The state of before takes the place of this one while the panel stands still.
  panel.signal('SIGSTOP');
  await panels.query("DELETE FROM inbounds WHERE remark = 'later'");
  await panels.query(`DELETE FROM cluster_changes WHERE seq > ${kept[0]?.last}`);
  await panels.query(`UPDATE cluster_state SET last = ${kept[0]?.last}`);
  const edit = panel.call('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port: 20_001, remark: 'lost' },
  });
  panel.signal('SIGCONT');
  const answer = await edit.catch(() => undefined);
  // The panel may close its listeners before it gets to the call.
  if (answer) t.deepEqual([answer.status, answer.body.success], [503, false], answer.text);
  await panel.until(() => panel.starts === 2, 'it starts again', 60_000);
  t.true(
    panel.log.some(
      ({ msg, ...line }) =>
        msg === 'this panel starts again to read the database again' && line['reason'] === REASON,
    ),
  );
  await panel.login();
  const remarks = async () =>
    (await panel.get<{ remark: string }[]>('/panel/api/inbounds/list')).map(({ remark }) => remark);
  t.deepEqual(await remarks(), ['before']);
  await panel.addInbound({ remark: 'after' });
  t.deepEqual(await remarks(), ['before', 'after']);
});
