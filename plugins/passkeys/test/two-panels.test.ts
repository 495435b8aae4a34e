// Runs on every database in test:full.
// Two panels on one database: a login that one began is finished at the other one, and counts once at both together.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { Panels } from '../../cluster/test/two-panels.js';
import { Authenticator, Browser, HOST, KEYS, ORIGIN } from './world.js';

const onServer = onSqlite ? test.skip : test.serial;
const METHODS = '/panel/api/x/access/login-methods';

onServer(
  'what one panel began, the other one finishes, and a copy of the answer is refused by both',
  async (t) => {
    await using panels = await Panels.open();
    // Fewer plugins start faster.
    const config = join(await folderFor(t), 'weir.json');
    await writeFile(config, JSON.stringify({ plugins: { passkeys: true } }));
    const env = { WEIR_PRESET: 'minimal', WEIR_CONFIG: config };
    const [a, b] = [await panels.start('a', env), await panels.start('b', env)];
    const admin = new Browser(a);
    await admin.logIn();
    const authenticator = new Authenticator(ORIGIN);
    const begun = await admin.begin();
    const there = new Browser(b);
    there.csrf = admin.csrf;
    for (const [name, value] of admin.cookies) there.cookies.set(name, value);
    await b.until(async () => (await there.asks(KEYS)) === 200, 'the session is known to the other panel');
    const made = await there.finish(authenticator.create(begun.body.obj));
    t.is(made.status, 200, made.body.msg);
    await a.until(
      async () => (await admin.call<object[]>(METHODS)).body.obj.length === 1,
      'the first panel offers logins with passkeys',
    );

    const at = (panel: { readonly url: string }, from: Browser): Browser => {
      const copy = new Browser(panel, { host: HOST, origin: ORIGIN });
      for (const [name, value] of from.cookies) copy.cookies.set(name, value);
      return copy;
    };
    const visitor = new Browser(a);
    const answer = authenticator.get(await visitor.options());
    const answers = await Promise.all(
      [a, b, a, b].map((panel) =>
        at(panel, visitor)
          .answer(answer)
          .then(({ status }) => status),
      ),
    );
    t.is(answers.filter((status) => status === 200).length, 1, answers.join());
  },
);
