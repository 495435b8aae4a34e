// What a source of releases says, and what a bad one may say.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { LiveSettings, Log } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import type { CoreProgramsApi } from '../../engine/contract.js';
import type { OutgoingApi } from '../../outgoing/contract.js';
import { ReleaseList } from '../release-list.js';
import { releasesIn, ReleaseSource } from '../release-source.js';
import type { sourceSettings } from '../settings.js';
import { newestFirst, versionOf } from '../version.js';

async function sourceOf(t: ExecutionContext, reply: (path: string, response: ServerResponse) => void) {
  const server = createServer((request, response) => reply(request.url ?? '', response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outgoing = {
    for:
      () =>
      (address: string, { headers, signal }: RequestInit) =>
        fetch(address, { ...(headers && { headers }), ...(signal && { signal }) }),
  } as unknown as OutgoingApi;
  const read = () => ({ engineReleases: `${url}/`, engineReleaseList: `${url}/list` });
  return new ReleaseSource({
    outgoing,
    programs: undefined as CoreProgramsApi | undefined,
    settings: { read } as unknown as LiveSettings<typeof sourceSettings>,
  });
}

test('tags are read from a list of names or of releases; drafts and other names are left out', (t) => {
  const versions = (reply: unknown) => releasesIn(reply).map(({ version }) => version);
  t.deepEqual(
    versions(['v26.3.27', '26.10.1', 'v26.3.27', 'nightly', 'v26.3.27-rc1', 'v1.2', '../x', 7, null]),
    ['26.10.1', '26.3.27'],
  );
  t.deepEqual(
    releasesIn([
      { tag_name: 'v26.9.9', draft: true },
      { tag_name: 'v26.8.8', prerelease: true },
      { tag_name: 'v26.7.7', prerelease: false, assets: [] },
      {},
    ]),
    [
      { version: '26.8.8', isPrerelease: true },
      { version: '26.7.7', isPrerelease: false },
    ],
  );
  for (const wrong of [{}, 'v26.3.27', null, undefined, 7])
    t.throws(() => releasesIn(wrong), { message: /it is not a list of releases/ });
  t.deepEqual(['1.8.0', '26.1.13', '26.1.9', '25.12.8'].sort(newestFirst), [
    '26.1.13',
    '26.1.9',
    '25.12.8',
    '1.8.0',
  ]);
  t.is(versionOf('v026.03.27'), '26.3.27');
});

test('a list that cannot be read is an error with the reason, until there was one', async (t) => {
  let reply = (response: ServerResponse): void => void response.writeHead(503).end();
  let asked = 0;
  const source = await sourceOf(t, (_, response) => {
    asked++;
    reply(response);
  });
  const clock = new FakeClock();
  const warnings: string[] = [];
  const log = { warn: (message: string) => void warnings.push(message) } as unknown as Log;
  const list = new ReleaseList({ source, clock, log });
  const sends = (text: string) => (response: ServerResponse) => void response.end(text);
  await t.throwsAsync(list.all(), { message: /cannot be read: 127\.0\.0\.1:\d+ answered 503$/ });
  reply = sends('<html>');
  await t.throwsAsync(list.all(), { message: /the list of releases cannot be read: / });
  reply = sends('[]');
  await t.throwsAsync(list.all(), { message: /it names no release$/ });
  reply = sends('["v26.3.27"]');
  asked = 0;
  const all = await Promise.all([list.all(), list.all()]);
  t.deepEqual(
    all.map(([first]) => first?.version),
    ['26.3.27', '26.3.27'],
  );
  await list.all();
  t.is(asked, 1);
  clock.tick(15 * 60_000);
  reply = sends('["v26.4.1"]');
  t.is((await list.all())[0]?.version, '26.4.1');
  clock.tick(15 * 60_000);
  reply = (response) => void response.destroy();
  t.is((await list.all())[0]?.version, '26.4.1', 'the last list serves');
  t.is(warnings.length, 1);
  list.forget();
  await t.throwsAsync(list.all());
});

test('a server that never ends is given up', async (t) => {
  const source = await sourceOf(t, (_, response) => {
    response.writeHead(200);
    response.write('x');
  });
  const began = Date.now();
  await t.throwsAsync(
    source.archive('26.3.27', () => undefined, { silenceMs: 300, wholeMs: 60_000 }),
    {
      message: /core 26\.3\.27 cannot be downloaded: no data for 0\.3 s$/,
    },
  );
  t.true(Date.now() - began < 5000);
});

test('a digest file without a SHA-256 is refused', async (t) => {
  const source = await sourceOf(
    t,
    (path, response) => void response.end(path.endsWith('.dgst') ? 'MD5= 1' : ''),
  );
  await t.throwsAsync(source.digest('26.3.27'), { message: /it names no SHA-256$/ });
});
