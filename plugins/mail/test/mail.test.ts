// Mails over a real SMTP server: encryption, logins, refusals, silence, lies.
import test, { type ExecutionContext } from 'ava';
import { FakeEngine, refused, TestPanel, until } from '../../../test/harness/index.js';
import { selfSigned } from '../../../test/harness/self-signed.js';
import type { Tested } from '../mail-channel.js';
import { mailServer, oddServer, replying } from './mail-server.js';

const UPDATE = '/panel/api/setting/update';
const { cert, key } = selfSigned();
const ACCOUNT = { smtpUsername: 'ada', smtpPassword: 'lovelace' };
const ADDRESSES = { smtpFrom: 'Panel <panel@example.com>', smtpTo: 'ada@example.com, bob@example.com' };

const fromQuotedPrintable = (text: string): string =>
  Buffer.from(
    text
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();

async function boot(t: ExecutionContext, settings: object = {}) {
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const set = (more: object) => panel.get(UPDATE, { body: more });
  await set({ smtpHost: '127.0.0.1', smtpEncryptionType: 'none', ...ADDRESSES, ...settings });
  const tried = async (more: object = {}): Promise<Tested> => {
    await set(more);
    const { status, text } = await panel.call('/panel/api/setting/testSmtp', { method: 'POST' });
    t.is(status, 200, text);
    return JSON.parse(text) as Tested;
  };
  return { panel, engine, set, tried };
}

test('a test sends one mail, with sender, recipients and account', async (t) => {
  const { port, received } = await mailServer(t);
  const { tried } = await boot(t, { smtpPort: port, ...ACCOUNT, smtpFromName: 'Übersicht' });
  t.deepEqual(await tried(), { success: true, stage: 'send', msg: 'the mail server took the mail' });
  const [mail] = received;
  t.like(mail, { from: 'panel@example.com', user: 'ada', secure: false });
  t.deepEqual(mail?.to, ['ada@example.com', 'bob@example.com']);
  t.regex(mail?.text ?? '', /^From: =\?UTF-8\?.*<panel@example\.com>/m);
  t.regex(mail?.text ?? '', /^Subject: .+ test/m);
  t.regex(mail?.text ?? '', /^Auto-Submitted: auto-generated/m);
  t.is(received.length, 1);
});

test('the connection is encrypted as the setting says, and never silently left unencrypted', async (t) => {
  const offering = await mailServer(t, { cert, key });
  const { tried } = await boot(t, { smtpPort: offering.port, smtpEncryptionType: 'starttls' });
  const self = await tried();
  t.like(self, { success: false, stage: 'connect' });
  t.regex(self.msg, /the certificate of .* is not trusted: self-signed certificate.*smtpSkipVerify/);
  t.true((await tried({ smtpSkipVerify: true })).success);
  t.true(offering.received.at(-1)?.secure);

  const plain = await mailServer(t, { disabledCommands: ['STARTTLS'] });
  const without = await tried({ smtpPort: plain.port });
  t.like(without, { success: false, stage: 'connect' });
  t.deepEqual(plain.received, []);

  const secure = await mailServer(t, { secure: true, cert, key });
  t.true((await tried({ smtpPort: secure.port, smtpEncryptionType: 'tls' })).success);
  t.true(secure.received[0]?.secure);
  const wrong = await tried({ smtpPort: plain.port });
  t.like(wrong, { success: false, stage: 'connect' });
  t.regex(wrong.msg, /does not speak TLS from the start; set smtpEncryptionType to starttls/);
});

test('a password is not sent unencrypted to another machine', async (t) => {
  const seen: string[] = [];
  const port = await oddServer(t, (socket) => {
    socket.on('data', (bytes) => seen.push(String(bytes)));
    replying({ EHLO: '250-hello\r\n250 AUTH PLAIN LOGIN' })(socket);
  });
  const { sendMail } = await import('../smtp-session.js');
  const server = { host: '127.0.0.1', port, encryption: 'none', skipVerify: false } as const;
  const letter = { from: 'a@b.example', to: ['c@d.example'], content: Buffer.from('x') };
  const signal = new AbortController().signal;
  const account = { username: 'ada', password: 'lovelace' };
  // Every name of this machine but those of loopback stands for another machine.
  const { hostname } = await import('node:os');
  const own = await import('node:dns/promises').then(({ lookup }) =>
    lookup(hostname()).catch(() => undefined),
  );
  if (own?.address.startsWith('127.'))
    await t.throwsAsync(sendMail({ ...server, host: hostname(), ...account }, letter, signal), {
      message: /would be sent unencrypted/,
    });
  t.false(seen.some((line) => line.startsWith('AUTH')));
  await sendMail({ ...server, ...account }, letter, signal);
  t.true(seen.some((line) => line.startsWith('AUTH')));
});

test('each refusal names its stage, and what to do', async (t) => {
  const { port } = await mailServer(t);
  const { tried } = await boot(t, { smtpPort: port, smtpUsername: 'ada', smtpPassword: 'byron' });
  const login = await tried();
  t.like(login, { success: false, stage: 'auth' });
  t.regex(login.msg, /refuses user name or password \(smtpUsername, smtpPassword\)/);

  await tried({ smtpUsername: '' });
  const cases: readonly (readonly [replies: Record<string, string>, stage: string, says: RegExp])[] = [
    [{ greeting: '554 go away' }, 'connect', /go away/],
    [{ MAIL: '550 5.7.1 relaying denied' }, 'send', /relaying denied/],
    [{ RCPT: '550 no such user' }, 'send', /no such user|recipients/i],
    [{ DATA: '354 go', END: '552 too large' }, 'send', /too large/],
  ];
  for (const [replies, stage, says] of cases) {
    const odd = await oddServer(t, replying(replies));
    const result = await tried({ smtpPort: odd });
    t.like(result, { success: false, stage }, JSON.stringify([replies, result]));
    t.regex(result.msg, says);
  }
  const nobody = await tried({ smtpPort: 1 });
  t.like(nobody, { success: false, stage: 'connect' });
  t.regex(nobody.msg, /127\.0\.0\.1:1 cannot be reached .*ECONNREFUSED/);
});

test('some refused recipients are named, and the others have the mail', async (t) => {
  const { port, received } = await mailServer(t, {
    onRcptTo: ({ address }: { address: string }, _: unknown, done: (error?: Error | null) => void) =>
      address.startsWith('bob') ? done(Object.assign(new Error('no bob'), { responseCode: 550 })) : done(),
  });
  const { tried } = await boot(t, { smtpPort: port });
  t.deepEqual(await tried(), {
    success: false,
    stage: 'send',
    msg: 'the mail server refused bob@example.com',
  });
  t.deepEqual(received[0]?.to, ['ada@example.com']);
});

test('what is missing is named, and nothing is sent', async (t) => {
  const { tried } = await boot(t, { smtpHost: '', smtpFrom: '', smtpTo: '' });
  t.regex((await tried()).msg, /^smtpHost is empty/);
  t.regex((await tried({ smtpHost: '127.0.0.1' })).msg, /^smtpFrom is empty/);
  t.regex((await tried({ smtpFrom: 'panel@example.com' })).msg, /^smtpTo is empty/);
});

test('settings that are no addresses are refused by name', async (t) => {
  const { panel } = await boot(t);
  const cases: readonly (readonly [field: string, value: unknown])[] = [
    ['smtpFrom', 'nobody'],
    ['smtpFrom', 'a@b.example, c@d.example'],
    ['smtpFrom', 'Ada\r\nBcc: x@y.example <ada@b.example>'],
    ['smtpTo', 'ada@example.com, nobody'],
    ['smtpTo', Array.from({ length: 21 }, (_, i) => `a${i}@b.example`).join()],
    ['smtpTo', 'ada@example.com\r\nBcc: eve@example.com'],
    ['smtpHost', 'mail.example.com/x'],
    ['smtpPort', 0],
    ['smtpEncryptionType', 'ssl'],
    ['smtpUsername', 'a\r\nb'],
    ['smtpLang', '../en'],
    ['smtpLang', 'en-a-b-c-d-e'],
  ];
  for (const [field, value] of cases)
    await refused(
      t,
      panel,
      UPDATE,
      { body: { [field]: value } },
      { status: 400, code: 'KERNEL_INVALID', field },
    );
});

test('the password is never shown', async (t) => {
  const { panel } = await boot(t, ACCOUNT);
  const { text } = await panel.call('/panel/api/setting/all', { method: 'POST' });
  t.false(text.includes('lovelace'));
  t.true((JSON.parse(text) as { obj: { hasSmtpPassword: boolean } }).obj.hasSmtpPassword);
});

test('a notification goes by mail while it is on, and mark-up in it is text', async (t) => {
  const { port, received } = await mailServer(t);
  const { set, panel } = await boot(t, {
    smtpPort: port,
    smtpEnabledEvents: ['loginBlocked'],
    smtpLang: 'fa',
  });
  const guess = (username: string) =>
    Promise.all(
      Array.from({ length: 9 }, () =>
        panel.call('/login', { body: { username, password: 'guess' }, anonymous: true }),
      ),
    );
  await set({ smtpEnable: true });
  await guess('<b>&"bold"</b>');
  await until(() => received.length > 0, 'the mail is there');
  const text = received[0]?.text ?? '';
  t.is(received.length, 1);
  t.regex(text, /^Subject: =\?UTF-8\?/m);
  t.notRegex(text, /^Bcc:/m);
  t.deepEqual(received[0]?.to, ['ada@example.com', 'bob@example.com']);
  const html = fromQuotedPrintable(text.slice(text.indexOf('text/html')));
  t.regex(html, /<html lang="fa" dir="rtl">/);
  t.regex(html, /ورود از/, 'the sentence is Persian');
  t.regex(html, /&lt;b&gt;&amp;&quot;bold&quot;&lt;\/b&gt;/);
  t.notRegex(html, /<b>/);
});

test('a server that floods, or sends junk, is read no further than an answer may be long', async (t) => {
  const { tried } = await boot(t);
  let poured = 0;
  const flood = await oddServer(t, (socket) => {
    const part = Buffer.alloc(64 * 1024, 'x');
    socket.on('close', () => void (poured = socket.bytesWritten));
    const pour = (): void => {
      while (socket.writable && socket.write(part));
      if (socket.writable) socket.once('drain', pour);
    };
    pour();
  });
  const junk = await oddServer(t, (socket) => void socket.end(Buffer.alloc(5000, 255)));
  const hangUp = await oddServer(t, (socket) => void socket.end('220 hello\r\n'));
  for (const port of [flood, junk, hangUp])
    t.like(await tried({ smtpPort: port }), { success: false, stage: 'connect' });
  // Most of it waits in the buffers of the two sockets.
  t.true(poured > 0 && poured < 32 * 1024 * 1024, `${poured} bytes`);
});

test('a silent server ends the attempt, and the end of the panel ends it at once', async (t) => {
  const silent = await oddServer(t, () => undefined);
  const { sendMail } = await import('../smtp-session.js');
  const server = {
    host: '127.0.0.1',
    port: silent,
    encryption: 'starttls',
    skipVerify: false,
    username: '',
    password: '',
  } as const;
  const letter = { from: 'a@b.example', to: ['c@d.example'], content: Buffer.from('x') };
  const stop = new AbortController();
  const sending = sendMail(server, letter, stop.signal);
  setTimeout(() => stop.abort(new Error('the panel stops')), 100);
  await t.throwsAsync(sending, { message: 'the panel stops' });
  // Without a limit of its own, the test's would end it.
  const failed = await t.throwsAsync(sendMail(server, letter, new AbortController().signal));
  t.like(failed, { stage: 'connect', isPermanent: false });
  t.regex(String(failed?.message), /did not answer in time/);
});

test('a mail that the server refuses for now may be tried again, and one that it refuses for good not', async (t) => {
  const { sendMail } = await import('../smtp-session.js');
  const letter = { from: 'a@b.example', to: ['c@d.example'], content: Buffer.from('x') };
  for (const [reply, isPermanent] of [
    ['451 try again later', false],
    ['554 never', true],
  ] as const) {
    const port = await oddServer(t, replying({ DATA: '354 go on', END: reply }));
    const server = {
      ...{ host: '127.0.0.1', port, encryption: 'none' as const },
      ...{ skipVerify: false, username: '', password: '' },
    };
    const failed = await t.throwsAsync(sendMail(server, letter, new AbortController().signal));
    t.like(failed, { stage: 'send', isPermanent }, reply);
  }
});

test('a server that takes a mail late gets it once', async (t) => {
  let taken = 0;
  const port = await oddServer(t, (socket) => {
    let isData = false;
    socket.write('220 hello\r\n');
    socket.on('data', (bytes) => {
      const text = String(bytes);
      if (!isData) socket.write(/^DATA/m.test(text) ? '354 go\r\n' : '250 fine\r\n');
      isData ||= /^DATA/m.test(text);
      if (!text.endsWith('\r\n.\r\n')) return;
      isData = false;
      taken++;
      setTimeout(() => socket.write('250 taken\r\n'), 11_000);
    });
  });
  const { panel, set } = await boot(t, { smtpPort: port, smtpEnabledEvents: ['loginSucceeded'] });
  await set({ smtpEnable: true });
  await panel.login();
  type Listed = { readonly state: string; readonly attempts: number };
  const listed = () => panel.get<Listed[]>('/panel/api/x/notifications/deliveries?channel=mail');
  await until(async () => (await listed())[0]?.state === 'delivered', 'it is delivered');
  t.is((await listed())[0]?.attempts, 1);
  t.is(taken, 1);
});
