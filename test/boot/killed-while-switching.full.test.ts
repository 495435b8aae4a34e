// The process is killed at moments of a switch: the config file is never half written.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { folderWith, openProcess, ask, listed } from './switching.js';

test.serial(
  'killed in the middle: the file is the old or the new one, and the panel starts with it',
  async (t) => {
    const { dataDirectory, path } = await folderWith(t, { plugins: { keygen: true } });
    const found: string[] = [];
    let enable = false;
    // In milliseconds, from the question or from its reply, on and off in turn.
    for (const { reply, delay } of [0, 30, 300, 900]
      .map((ms) => ({ reply: false, delay: ms }))
      .concat([0, 90, 130, 250, 500].map((ms) => ({ reply: true, delay: ms })))) {
      const panel = await openProcess(t, dataDirectory);
      const answer = ask(panel, 'keygen', enable).catch(() => undefined);
      if (reply) t.is((await answer)?.status, 202);
      await sleep(delay);
      await panel.kill('SIGKILL');
      await answer;
      const { plugins } = JSON.parse(await readFile(path, 'utf8')) as { plugins: { keygen: boolean } };
      t.deepEqual(Object.keys(plugins), ['keygen']);
      if (reply) t.is(plugins.keygen, enable, 'it is written before the reply');
      found.push(plugins.keygen === enable ? 'new' : 'old');
      enable = !plugins.keygen;
    }
    t.log(found.join(' '));
    const panel = await openProcess(t, dataDirectory);
    t.is((await listed(panel, 'keygen')) !== undefined, !enable);
  },
);
