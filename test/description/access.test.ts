// Every endpoint of the sections about the login, API tokens and the live stream.
import { createHash } from 'node:crypto';
import test from 'ava';
import { WebSocket } from 'ws';
import { ADMIN } from '../harness/api.js';
import { withDatabase } from '../harness/edit-database.js';
import { TestPanel } from '../harness/panel.js';
import { ACCESS } from './access.js';
import { Asking } from './asking.js';

interface Token {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly token: string;
}

test('login and API tokens: the sections of the API description', async (t) => {
  await using panel = await TestPanel.boot();
  const asking = new Asking(panel, ACCESS);
  const at = '/panel/api/setting/apiTokens';

  t.false(await asking.ask<boolean>(t, 'POST /getTwoFactorEnable'));
  t.true((await asking.ask<string>(t, 'GET /csrf-token')).length > 20);
  t.is(typeof (await panel.get('/csrf-token', { anonymous: true })), 'string', 'for the form of a login');
  await asking.ask(t, 'POST /login', { body: { ...ADMIN, twoFactorCode: '' } });
  const login = await panel.call('/login', { body: ADMIN, anonymous: true });
  t.true(login.body.msg !== '');
  t.regex(login.headers.getSetCookie().join('\n'), /^weir_session=[^;]+; .*HttpOnly/m);
  await panel.login();

  const made = await asking.ask<Token>(t, `POST ${at}/create`, { body: { name: 'bot' } });
  const { token, ...shown } = made;
  const asToken = { anonymous: true, headers: { authorization: `Bearer ${token}` } };
  const list = () => asking.ask<Token[]>(t, `GET ${at}`);
  t.like(
    (await list()).find(({ name }) => name === 'bot'),
    shown,
  );
  t.false(JSON.stringify(await list()).includes(token), 'shown once');
  const rows = await withDatabase(panel.dataDirectory, (db) => db.query('SELECT * FROM api_tokens'));
  t.false(JSON.stringify(rows).includes(token), 'stored as a hash');
  const digest = createHash('sha256').update(token).digest();
  t.true(
    [digest.toString('hex'), digest.toString('base64'), JSON.stringify(digest)].some((text) =>
      JSON.stringify(rows).includes(text),
    ),
    'with SHA-256',
  );
  t.is((await panel.call(`${at}/create`, { body: { name: 'bot' } })).status, 409, 'names are unique');
  const admins = await withDatabase(panel.dataDirectory, (db) => db.query('SELECT * FROM admins'));
  t.regex(JSON.stringify(admins), /\$argon2id\$/, 'passwords are digests of argon2id');

  const status = async () => (await panel.call('/panel/api/inbounds/list', asToken)).status;
  t.is(await status(), 200);
  await asking.ask(t, `POST ${at}/setEnabled/{id}`, { at: [made.id], body: { enabled: false } });
  t.is(await status(), 401, 'revoked');
  t.like(
    (await list()).find(({ id }) => id === made.id),
    { enabled: false },
    'without deletion',
  );
  await asking.ask(t, `POST ${at}/setEnabled/{id}`, { at: [made.id], body: { enabled: true } });
  t.is(await status(), 200);
  await asking.ask(t, `POST ${at}/delete/{id}`, { at: [made.id] });
  t.is(await status(), 401);
  t.is(
    (await list()).find(({ id }) => id === made.id),
    undefined,
  );

  await asking.ask(t, 'POST /logout');
  t.is((await panel.call(at)).status, 401, 'the session is over');
  asking.end(t);
});

test('live stream: the section of the API description', async (t) => {
  await using panel = await TestPanel.boot();
  const body = { name: 'bot' };
  const { token } = await panel.get<Token>('/panel/api/setting/apiTokens/create', { body });
  const open = (headers: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(`${panel.url.replace('http', 'ws')}/ws`, { headers });
      socket.on('error', (error) => resolve(error.message));
      socket.on('message', (data: Buffer) => {
        resolve(data.toString());
        socket.close();
      });
    });
  const { type } = JSON.parse(await open({ cookie: panel.cookie })) as { type: unknown };
  t.is(typeof type, 'string');
  t.regex(await open({}), /401/);
  t.regex(await open({ authorization: `Bearer ${token}` }), /401/, 'only the session cookie');
});
