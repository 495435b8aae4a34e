// Runs on every database in test:full.
// A panel whose machine is gone without a word: the server still has its connection, and the lock of it.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { SilentLink } from './silent-link.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test;
const SMALL = { WEIR_PRESET: 'minimal' };
const HELD = /another process has the name a|another panel holds it/;
/** Within it the server must have given the dead one up. */
const LIMIT_MS = 60_000;

for (const [what, env] of [
  ['one of several panels', SMALL],
  ['a panel alone', { ...SMALL, WEIR_CLUSTER: '' }],
] as const)
  onServer(
    `${what} starts again soon after its machine was lost, and stays while nothing is written`,
    async (t) => {
      t.timeout(240_000);
      await using panels = await Panels.open();
      const link = await SilentLink.before(panels.url);
      t.teardown(() => link.close());
      const lost = await panels.start('a', { ...env, WEIR_DATABASE_URL: link.through(panels.url) });
      await lost.addInbound({ remark: 'before' });
      await lost.kill('SIGKILL');
      const refusals: string[] = [];
      const again = async () => {
        for (const deadline = Date.now() + LIMIT_MS; ; await sleep(500))
          try {
            return await panels.start('a', env);
          } catch (error) {
            refusals.push(String(error));
            if (Date.now() > deadline) throw error;
          }
      };
      const back = await again();
      t.regex(refusals[0] ?? '', HELD, 'it was held');
      // Longer than the server waits: a panel that runs says something all the while, and holds the lock.
      await sleep(40_000);
      await t.throwsAsync(panels.start('a', env), { message: HELD });
      await back.addInbound({ remark: 'after' });
    },
  );
