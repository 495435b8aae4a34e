// The examples as their authors have them: built and packed as packages of their own, outside the source tree, booted by the program.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { PanelProcess } from '../harness/panel-process.js';
import { sourceRoot } from '../harness/source-root.js';
import { folderOf, thirdParty, writeFiles } from './third-party.js';

const run = promisify(execFile);

interface Packed {
  readonly name: string;
  readonly files: readonly { readonly path: string }[];
}

/** A copy of an example in a folder of its own, as its author has it after `npm install`. */
async function authored(
  t: ExecutionContext,
  example: string,
): Promise<{ readonly folder: string; readonly root: string }> {
  const root = fileURLToPath(await sourceRoot());
  const folder = join(await folderOf(t), example);
  await cp(join(root, 'examples', example), folder, { recursive: true });
  await mkdir(join(folder, 'node_modules', '@weir-panel'), { recursive: true });
  for (const name of ['@weir-panel/weir', '@types', 'ava'])
    await symlink(
      name === '@weir-panel/weir' ? root : join(root, 'node_modules', name),
      join(folder, 'node_modules', name),
    );
  return { folder, root };
}

/** Builds examples and puts what npm would pack of them into `modules`; npm is started once for all of them. */
async function pack(
  t: ExecutionContext,
  examples: readonly string[],
  modules: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folders = await Promise.all(
    examples.map(async (example) => {
      const { folder, root } = await authored(t, example);
      await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], {
        cwd: folder,
      }).catch((error: { stdout?: string }) => t.fail(`${example} does not build: ${error.stdout}`));
      return folder;
    }),
  );
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--offline', ...folders]);
  // npm 11 answers a list, npm 12 an object by name.
  const packed = Object.values(JSON.parse(stdout) as Record<string, Packed>);
  for (const { name, files } of packed)
    for (const { path } of files) {
      const folder = folders.find((one) => name === `weir-plugin-${basename(one)}`) ?? '';
      const target = join(modules, name, path);
      await mkdir(dirname(target), { recursive: true });
      await cp(join(folder, path), target);
    }
  return new Map(packed.map(({ name, files }) => [name, files.map(({ path }) => path).sort()]));
}

test('the examples, packed and installed into the data folder, run in a panel; one that is broken beside them does not', async (t) => {
  const data = await folderOf(t);
  const modules = join(data, 'plugins', 'node_modules');
  const packed = await pack(
    t,
    ['hello', 'acme-plot', 'acme-tally', 'surge-list', 'acme-callbacks', 'socks-inbound', 'acme-shelf'],
    modules,
  );
  const filesOf = (name: string, of = /./) =>
    (packed.get(`weir-plugin-${name}`) ?? []).filter((path) => of.test(path));
  t.deepEqual(filesOf('hello'), ['dist/index.js', 'package.json']);
  t.true(
    filesOf('acme-tally', /^(?:dist\/tally\.js|README\.md)$/).length === 2 &&
      filesOf('acme-tally', /\.test\.js$/).length === 0,
    filesOf('acme-tally').join(),
  );
  t.deepEqual(filesOf('surge-list', /\.js$/), ['dist/index.js', 'dist/surge.js']);
  t.deepEqual(filesOf('acme-callbacks', /\.js$/), ['dist/index.js', 'dist/post.js']);
  t.deepEqual(filesOf('socks-inbound', /\.js$/), ['dist/index.js', 'dist/socks.js']);
  t.deepEqual(filesOf('acme-plot', /^page/), ['page/index.html', 'page/plot.css', 'page/plot.js']);
  t.deepEqual(filesOf('acme-shelf', /^(?:page|dist)/), ['dist/index.js', 'page/index.html', 'page/shelf.js']);
  const broken = await thirdParty(data, 'broken', "throw new Error('not today');");
  await writeFiles(data, {
    'weir.json': {
      plugins: {
        'npm:weir-plugin-hello': true,
        'npm:weir-plugin-acme-plot': true,
        'npm:weir-plugin-acme-tally': { config: { keepDays: 7 } },
        'npm:weir-plugin-surge-list': true,
        'npm:weir-plugin-acme-callbacks': true,
        'npm:weir-plugin-acme-shelf': true,
        'npm:weir-plugin-socks-inbound': true,
        [broken]: true,
      },
    },
  });

  const env = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_OUTGOING_ALLOW: 'acme-callbacks=127.0.0.1' };
  const panel = await PanelProcess.start({ dataDirectory: data, env });
  t.teardown(() => panel.kill('SIGTERM'));
  t.deepEqual(await panel.get('/panel/api/x/hello/world'), { greeting: 'hello, world' });
  t.deepEqual(await panel.get('/panel/api/x/acme-tally/days'), []);
  const [plotPage] = await panel.get<{ plugin: string; entry: string }[]>('/panel/api/x/web-ui/pages');
  t.like(plotPage, { plugin: 'acme-plot', key: 'today', entry: 'index.html' });
  const plot = await fetch(`${panel.url}/panel/plugin-pages/acme-plot/today/index.html`);
  t.regex(await plot.text(), /weir-page\.js/);
  const { subId } = await panel.addClient('ada', [await panel.addInbound({ protocol: 'vmess' })]);
  const settings = await panel.get<Record<string, string>>('/panel/api/setting/all', { method: 'POST' });
  const list = await fetch(`${new URL(panel.ready.subUrl).origin}${settings['surge-list.path']}${subId}`);
  t.regex(await list.text(), /^test-ada.* = vmess, 127\.0\.0\.1, \d+, username=/);
  const heard: string[] = [];
  const receiver = createServer((request, response) => {
    heard.push(String(request.headers['webhook-signature']));
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  t.teardown(() => receiver.close());
  await once(receiver, 'listening');
  const callbacks = {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    secret: `whsec_${Buffer.alloc(24).toString('base64')}`,
  };
  await panel.call('/panel/api/setting/update', {
    body: { 'acme-callbacks.url': callbacks.url, 'acme-callbacks.secret': callbacks.secret },
  });
  t.like(await panel.get('/panel/api/notifications/test', { method: 'POST' }), [
    { channel: 'acme-callbacks', delivered: true, reason: '' },
  ]);
  t.regex(heard.join(), /^v1,[\w+/]{43}=$/);
  const plugins =
    await panel.get<{ name: string; version: string; outside: boolean; state: string; reason: string }[]>(
      '/panel/api/system/plugins',
    );
  const outside = plugins.filter((plugin) => plugin.outside);
  const reason = `the plugin broken (${broken}) failed while it was imported: not today; update it, or leave it out`;
  t.deepEqual(
    outside.map(({ name, version, state, reason: why }) => [name, version, state, why]),
    [
      ['acme-callbacks', '1.0.0', 'running', ''],
      ['acme-plot', '1.0.0', 'running', ''],
      ['acme-shelf', '1.0.0', 'running', ''],
      ['acme-tally', '0.3.0', 'running', ''],
      ['hello', '1.0.0', 'running', ''],
      ['socks-inbound', '1.0.0', 'running', ''],
      ['surge-list', '1.0.0', 'running', ''],
      ['broken', '1.2.3', 'failed', reason],
    ],
  );
  t.is(plugins.find(({ name }) => name === 'clients')?.state, 'running');
  t.like(panel.said('a plugin is left out'), { level: 'error', plugin: 'broken', reason });
  await usesShelf(t, panel);
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
});

/** A packed plugin has a page, takes an upload and gives it back. */
async function usesShelf(t: ExecutionContext, panel: PanelProcess): Promise<void> {
  const page = await panel.call('/panel/x/acme-shelf/');
  t.regex(page.text, /<h1>Shelf<\/h1>/);
  t.regex(page.headers.get('content-security-policy') ?? '', /^default-src 'self'/);
  t.is((await panel.call('/panel/x/acme-shelf/', { anonymous: true })).status, 401);
  t.is((await panel.call('/panel/x/acme-shelf/shelf.js')).headers.get('cache-control'), 'no-cache');

  const api = '/panel/api/x/acme-shelf/files';
  const form = new FormData();
  form.set('document', new File(['what is kept'], 'note.txt'));
  const kept = await panel.call(api, { method: 'POST', rawBody: form as never });
  t.deepEqual([kept.status, kept.body.msg], [200, 'kept note.txt'], kept.text);
  t.deepEqual(await panel.get(api), ['note.txt']);
  const back = await panel.call(`${api}/note.txt`);
  t.deepEqual(
    [back.text, back.headers.get('content-disposition')],
    ['what is kept', 'attachment; filename=note.txt'],
  );
  t.is((await panel.call(`${api}/..%2F..%2Fweir.json`)).status, 400);
  t.is((await panel.call(`${api}/gone.txt`)).body.msg, 'there is no document of this name');
}

for (const [example, count] of [
  ['acme-tally', '2 tests'],
  ['acme-notes', '1 test'],
] as const)
  test(`the tests of ${example} run as the guide says`, async (t) => {
    const { folder, root } = await authored(t, example);
    const modules = join(root, 'node_modules');
    // What `npm test` there does; where the two programs are is npm's knowledge.
    await run(process.execPath, [join(modules, 'typescript', 'bin', 'tsc'), '-p', 'test'], {
      cwd: folder,
    }).catch((error: { stdout?: string }) => t.fail(`${example} does not build: ${error.stdout}`));
    const { stdout } = await run(process.execPath, [join(modules, 'ava', 'entrypoints', 'cli.mjs')], {
      cwd: folder,
    });
    t.true(stdout.includes(`${count} passed`), stdout);
  });
