// Routes with files: multipart/form-data over real connections, kept in the data folder until they are answered.
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import {
  type UploadedFile,
  file,
  fileList,
  int,
  message,
  payload,
  raw,
  route,
  shape,
  stream,
  text,
} from '../index.js';
import { bare, latch, people, until, World } from './world.js';

const CRLF = '\r\n';
const BOUNDARY = 'boundary-of-a-test';
const TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

interface Part {
  readonly name?: string;
  readonly fileName?: string;
  readonly type?: string;
  readonly content?: string | Buffer;
  /** in place of all headers */
  readonly headers?: string;
}
const partOf = ({ name = 'x', fileName, type, content = '', headers }: Part): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}${CRLF}${
        headers ??
        `Content-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}${type === undefined ? '' : `${CRLF}Content-Type: ${type}`}`
      }${CRLF}${CRLF}`,
    ),
    Buffer.from(content),
    Buffer.from(CRLF),
  ]);
const formOf = (...parts: readonly Part[]): Buffer =>
  Buffer.concat([...parts.map(partOf), Buffer.from(`--${BOUNDARY}--${CRLF}`)]);

interface Kept {
  readonly backup: UploadedFile;
  readonly notes: readonly UploadedFile[];
}
const seen: Kept[] = [];
const held = latch();
const release = latch();

const backupRoute = (path: string, rest: Partial<Parameters<typeof route>[0]> = {}) =>
  route({
    method: 'POST',
    path,
    auth: 'session',
    doc: 'Takes a backup.',
    body: shape({ count: int().min(1), note: text().optional() }),
    files: {
      backup: file({ maxBytes: 100_000, endings: ['.db'] }),
      notes: fileList({ maxBytes: 1000, most: 2 }),
    },
    bodyLimit: 2000,
    reply: payload(shape({ size: int(), text: text(), count: int(), notes: int() })),
    handle: async ({ body, files }) => {
      seen.push(files);
      const content = await readFile(files.backup.path);
      return {
        size: files.backup.size,
        text: content.subarray(0, 50).toString('latin1'),
        count: body.count,
        notes: files.notes.length,
      };
    },
    ...(rest as object),
  });

const world = await World.boot([
  people,
  bare('uploads', {
    routes: () => [
      backupRoute('/backup'),
      backupRoute('/closed', {
        beforeBody: () => {
          throw new Error('nobody comes in');
        },
      }),
      backupRoute('/breaks', {
        handle: (({ files }: { files: Kept }) => {
          seen.push(files);
          throw new Error('the handler broke');
        }) as never,
      }),
      backupRoute('/held', {
        handle: (async ({ files }: { files: Kept }) => {
          seen.push(files);
          held.open();
          await release.opened;
          return { size: 1, text: '', count: 1, notes: 0 };
        }) as never,
      }),
      route({
        method: 'POST',
        path: '/echo',
        auth: 'session',
        doc: 'Sends it back.',
        files: { any: file({ maxBytes: 3_000_000 }) },
        reply: stream('application/octet-stream'),
        handle: async ({ files }) => ({ body: (await import('node:fs')).createReadStream(files.any.path) }),
      }),
      route({
        method: 'POST',
        path: '/anyone',
        auth: 'anyone',
        doc: 'Takes a small one.',
        files: { small: file({ maxBytes: 10_000 }) },
        reply: message(),
        handle: ({ files }) => files.small.name,
      }),
    ],
  }),
]);
test.after.always(() => world[Symbol.asyncDispose]());

const folder = join(world.folder, 'uploads');
const leftovers = (): Promise<string[]> => readdir(folder).catch(() => []);
let login: Awaited<ReturnType<World['login']>>;
test.before(async () => {
  login = await world.login();
});
const send = (path: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
  world.call(path, { raw: body, headers: { ...login, ...TYPE, ...headers } });
const BACKUP: Part = {
  name: 'backup',
  fileName: 'my.db',
  type: 'application/x-sqlite3',
  content: 'bytes\0\r\n--of it',
};
const COUNT: Part = { name: 'count', content: '7' };

/** The reply to a form: status, code, the field that is named, and the sentence. */
async function refused(path: string, ...parts: readonly Part[]): Promise<readonly unknown[]> {
  const { status, body } = await send(path, formOf(...parts));
  const issues = (body.obj as { issues?: { path: string }[] } | null)?.issues;
  return [status, body.code, issues?.[0]?.path, body.msg];
}

test.serial('passes files and texts as declared, and removes the files afterwards', async (t) => {
  const answer = await send(
    '/backup',
    formOf(COUNT, BACKUP, { name: 'notes', fileName: 'a.txt', content: 'a' }),
  );
  t.deepEqual(answer.body.obj, { size: 15, text: 'bytes\0\r\n--of it', count: 7, notes: 1 }, answer.text);
  const { backup } = seen.at(-1) as Kept;
  t.deepEqual([backup.name, backup.mediaType], ['my.db', 'application/x-sqlite3']);
  t.true(backup.path.startsWith(folder));
  await t.throwsAsync(stat(backup.path), { code: 'ENOENT' });
  t.deepEqual(await leftovers(), []);
});

test.serial('keeps a file private to the panel', async (t) => {
  const sent = send('/held', formOf(COUNT, BACKUP));
  await held.opened;
  const { backup } = seen.at(-1) as Kept;
  t.is((await stat(backup.path)).mode & 0o777, 0o600);
  t.is((await stat(folder)).mode & 0o777, 0o700);
  t.is((await leftovers()).length, 1);
  release.open();
  t.is((await sent).status, 200);
  t.deepEqual(await leftovers(), []);
});

test.serial('a reply can stream the file; it is removed after the reply', async (t) => {
  const content = Buffer.alloc(2_500_000, 'z');
  const answer = await send('/echo', formOf({ name: 'any', fileName: 'z', content }));
  t.deepEqual([answer.status, answer.text.length], [200, 2_500_000]);
  await until(async () => (await leftovers()).length === 0, 'the file is gone');
});

test.serial('checks login, token and beforeBody before it stores anything', async (t) => {
  const form = formOf(COUNT, BACKUP);
  t.is((await world.call('/backup', { raw: form, headers: TYPE })).status, 401);
  const forged = await world.call('/backup', { raw: form, headers: { ...TYPE, cookie: login.cookie } });
  t.deepEqual([forged.status, forged.body.code], [403, 'KERNEL_CSRF']);
  t.is((await send('/closed', form)).status, 500);
  t.deepEqual(await leftovers(), []);
});

test.serial('removes the files after an error of the handler too', async (t) => {
  t.is((await send('/breaks', formOf(COUNT, BACKUP))).status, 500);
  await t.throwsAsync(stat((seen.at(-1) as Kept).backup.path), { code: 'ENOENT' });
  t.deepEqual(await leftovers(), []);
});

test.serial('names the field of an invalid part', async (t) => {
  const large: Part = { ...BACKUP, content: Buffer.alloc(100_001) };
  const note: Part = { name: 'notes', fileName: 'a', content: 'a' };
  t.deepEqual(await refused('/backup', COUNT), [400, 'KERNEL_INVALID', 'backup', 'backup is required']);
  t.deepEqual(await refused('/backup', BACKUP), [400, 'KERNEL_INVALID', 'count', 'count is required']);
  t.deepEqual((await refused('/backup', BACKUP, { name: 'count', content: 'many' })).slice(0, 3), [
    400,
    'KERNEL_INVALID',
    'count',
  ]);
  t.deepEqual(await refused('/backup', COUNT, large), [
    413,
    'KERNEL_TOO_LARGE',
    'backup',
    'backup is larger than 98 KiB',
  ]);
  t.deepEqual(await refused('/backup', COUNT, BACKUP, BACKUP), [
    400,
    'KERNEL_INVALID',
    'backup',
    'backup takes one file only',
  ]);
  t.deepEqual(await refused('/backup', COUNT, BACKUP, note, note, note), [
    400,
    'KERNEL_INVALID',
    'notes',
    'notes takes at most 2 files',
  ]);
  t.deepEqual(await refused('/backup', COUNT, { ...BACKUP, fileName: 'my.exe' }), [
    400,
    'KERNEL_INVALID',
    'backup',
    'backup must be a file whose name ends with .db',
  ]);
  t.deepEqual(await refused('/backup', COUNT, BACKUP, { name: '__proto__', fileName: 'a', content: 'a' }), [
    400,
    'KERNEL_INVALID',
    '__proto__',
    '__proto__ is not a file of this endpoint; its files are backup, notes',
  ]);
  t.deepEqual(await refused('/backup', COUNT, { name: 'backup', content: 'as a text' }), [
    400,
    'KERNEL_INVALID',
    'backup',
    'backup must be a file, sent with a file name',
  ]);
  t.deepEqual(
    (await refused('/backup', COUNT, BACKUP, { name: 'note', content: 'n'.repeat(3000) })).slice(0, 3),
    [413, 'KERNEL_TOO_LARGE', 'note'],
  );
  t.deepEqual(await leftovers(), []);
});

test.serial('treats a field without a chosen file as not sent', async (t) => {
  const none: Part = { name: 'notes', fileName: '', type: 'application/octet-stream' };
  t.is((await send('/backup', formOf(COUNT, BACKUP, none))).status, 200);
  t.deepEqual((seen.at(-1) as Kept).notes, []);
  t.is(
    (await send('/backup', formOf(COUNT, BACKUP, { ...none, content: 'x' }))).body.msg,
    'notes needs a file name',
  );
});

test.serial('strips folders, line breaks and invisible characters from file names', async (t) => {
  for (const [sent, shown] of [
    ['../../etc/my.db', 'my.db'],
    ['..\\\\..\\\\my.db', 'my.db'],
    ['C:\\\\files\\\\my.db', 'my.db'],
    ['ä ö.db', 'ä ö.db'],
    ['a\0b\u0007.db', 'ab.db'],
    [`${'x'.repeat(400)}.db`, `${'x'.repeat(197)}.db`],
  ] as const) {
    const answer = await send('/backup', formOf(COUNT, { ...BACKUP, fileName: sent }));
    t.is(answer.status, 200, `${sent}: ${answer.text}`);
    t.is((seen.at(-1) as Kept).backup.name, shown);
  }
  for (const sent of ['..', 'a/', '../..', '\u0007'])
    t.is((await send('/backup', formOf(COUNT, { ...BACKUP, fileName: sent }))).status, 400, sent);
  // A quote and a line break would end the header; what comes of it is not a file called so.
  const broken = await send('/backup', formOf(COUNT, { ...BACKUP, fileName: 'a"\r\nX-Bad: 1\r\n\r\n.db' }));
  t.is(broken.status, 400);
  t.deepEqual(await leftovers(), []);
});

test.serial(
  'rejects another kind of body, a compressed one or one without a boundary before it reads it',
  async (t) => {
    const form = formOf(COUNT, BACKUP);
    const kinds: readonly (readonly [number, Readonly<Record<string, string>>])[] = [
      [415, { 'content-type': 'application/json' }],
      [415, { 'content-type': 'application/x-www-form-urlencoded' }],
      [415, { 'content-type': 'multipart/mixed; boundary=x' }],
      [415, { 'content-encoding': 'gzip' }],
      [400, { 'content-type': 'multipart/form-data' }],
      [400, { 'content-type': 'multipart/form-data; boundary=' }],
      [400, { 'content-type': 'multipart/form-data; boundary=another' }],
    ];
    for (const [status, headers] of kinds)
      t.is((await send('/backup', form, headers)).status, status, JSON.stringify(headers));
    t.is((await world.call('/backup', { method: 'POST', headers: { ...login, ...TYPE } })).status, 400);
    t.deepEqual(await leftovers(), []);
  },
);

test.serial('returns 400 for malformed bodies, and the panel survives', async (t) => {
  const bodies: readonly (readonly [string, Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['no end', formOf(COUNT, BACKUP).subarray(0, -BOUNDARY.length - 6)],
    ['cut in a header', formOf(COUNT, BACKUP).subarray(0, 40)],
    ['cut in a file', formOf(BACKUP).subarray(0, -BOUNDARY.length - 10)],
    ['no boundary within', Buffer.alloc(5000, 'x')],
    ['a part without a name', formOf(COUNT, { headers: 'Content-Disposition: form-data; filename="a.db"' })],
    ['a text without a name', formOf({ headers: 'Content-Disposition: form-data' })],
    [
      'a header without end',
      formOf({ headers: `Content-Disposition: form-data; name="${'x'.repeat(20_000)}"` }),
    ],
    [
      'a thousand headers',
      formOf({ headers: Array.from({ length: 1000 }, (_, i) => `X-${i}: 1`).join(CRLF) }),
    ],
    [
      'a form within',
      formOf(
        {
          headers: `Content-Disposition: form-data; name="backup"${CRLF}Content-Type: multipart/mixed; boundary=${BOUNDARY}`,
        },
        COUNT,
      ),
    ],
    ['only dashes', Buffer.alloc(50_000, '--')],
    ['only boundaries', Buffer.from(`--${BOUNDARY}${CRLF}`.repeat(2000))],
  ];
  for (const [what, body] of bodies) {
    const answer = await send('/backup', body);
    t.is(answer.status, 400, `${what}: ${answer.text}`);
  }
  t.is((await send('/backup', formOf(COUNT, BACKUP))).status, 200);
  t.deepEqual(await leftovers(), []);
  t.deepEqual(
    world.faults().filter((line) => line.includes('/backup')),
    [],
  );
});

test.serial('limits parts, texts and bytes, with and without a length', async (t) => {
  const parts = Array.from({ length: 1100 }, (): Part => ({ name: 'y' }));
  t.is((await send('/backup', formOf(...parts))).status, 400);
  const same = await send(
    '/backup',
    formOf(
      BACKUP,
      COUNT,
      ...Array.from({ length: 500 }, (): Part => ({ name: 'longer', content: 'and a text' })),
    ),
  );
  t.is(same.status, 413);
  t.is((await send('/backup', Buffer.alloc(2_000_000, 'x'))).status, 413);
  const socket = connect(world.port, '127.0.0.1');
  socket.write(
    `POST /backup HTTP/1.1\r\nHost: localhost\r\nCookie: ${login.cookie}\r\nX-CSRF-Token: ${login['x-csrf-token']}\r\nContent-Type: ${TYPE['content-type']}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  socket.on('error', () => undefined);
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const feeding = setInterval(() => socket.write(chunk), 1);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  clearInterval(feeding);
  socket.destroy();
  t.regex(reply.toString(), /^HTTP\/1\.1 413 /);
  await until(async () => (await leftovers()).length === 0, 'nothing is left');
});

test.serial('counts names of texts towards the limit, to the byte', async (t) => {
  const named = (bytes: number): Part[] =>
    Array.from({ length: Math.ceil(bytes / 100) }, (_, i) => ({
      name: String(i).padEnd(Math.min(100, bytes - 100 * i), 'n'),
    }));
  const room = 2000 - 'count'.length - String(COUNT.content).length;
  const fits = await send('/backup', formOf(BACKUP, COUNT, ...named(room)));
  t.is(fits.status, 200, fits.text);
  const over = await send('/backup', formOf(BACKUP, COUNT, ...named(room + 1)));
  t.is(over.status, 413);
  // Letters outside of ASCII count with their bytes.
  const wide = await send('/backup', formOf(BACKUP, COUNT, ...named(room - 10), { name: 'ä'.repeat(6) }));
  t.is(wide.status, 413);
  t.is(
    (await send('/backup', formOf(BACKUP, COUNT, ...named(room - 10), { name: 'ä'.repeat(5) }))).status,
    200,
  );
});

test.serial('removes the files of a sender that disconnects, without a fault', async (t) => {
  const form = formOf(COUNT, BACKUP);
  const socket = connect(world.port, '127.0.0.1');
  socket.write(
    `POST /backup HTTP/1.1\r\nHost: localhost\r\nCookie: ${login.cookie}\r\nX-CSRF-Token: ${login['x-csrf-token']}\r\nContent-Type: ${TYPE['content-type']}\r\nContent-Length: ${form.length}\r\n\r\n`,
  );
  socket.write(form.subarray(0, -70));
  await until(async () => (await leftovers()).length === 1, 'the upload has begun');
  socket.destroy();
  await until(async () => (await leftovers()).length === 0, 'nothing is left');
  t.deepEqual(
    world.faults().filter((line) => line.includes('/backup')),
    [],
  );
});

test.serial('without a login, limits the whole body like any other', async (t) => {
  const upload = (bytes: number) =>
    world.call('/anyone', {
      raw: formOf({ name: 'small', fileName: 'a', content: Buffer.alloc(bytes) }),
      headers: TYPE,
    });
  t.deepEqual(
    [(await upload(9_000)).body.msg, (await upload(10_001)).status, (await upload(17_000)).status],
    ['a', 413, 413],
  );
  t.throws(
    () =>
      route({
        method: 'POST',
        path: '/x',
        auth: 'anyone',
        doc: 'x',
        files: { large: fileList({ maxBytes: 9_000, most: 2 }) },
        reply: raw(),
        handle: () => '',
      }),
    { message: /takes a body of at most 16 KiB/ },
  );
});

test.serial('removes files of a crashed panel at the next start', async (t) => {
  await using first = await World.boot([]);
  await first.kernel.stop('for a restart');
  await mkdir(join(first.folder, 'uploads', 'request-old'), { recursive: true });
  await writeFile(join(first.folder, 'uploads', 'request-old', '0'), 'left');
  const second = await World.boot([], { folder: first.folder });
  t.deepEqual(await readdir(join(first.folder, 'uploads')).catch(() => []), []);
  await second.kernel.stop('end');
});
