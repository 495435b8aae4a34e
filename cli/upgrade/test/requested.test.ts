// Root's part of an update: what the panel's user hands over is signed and whole, or nothing is installed.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { FILES, FOLDER, OUTCOME, PACKAGE_KEY, readOutcome } from '../../../plugins/updates/contract.js';
import { type Release, FORMAT } from '../../../plugins/updates/release-index.js';
import { signatureOf } from '../../../plugins/updates/signing-key.js';
import { newKey, releaseOf } from '../../../plugins/updates/test/release-server.js';
import { Installation } from '../installation.js';
import { type Installed, serveRequest } from '../requested.js';

const run = promisify(execFile);
const key = newKey();

/** A tree like that of a package, packed. */
async function packed(folder: string, version: string): Promise<Buffer> {
  const name = `weir-${version}-linux-x64`;
  await mkdir(join(folder, name, 'bin'), { recursive: true });
  await writeFile(join(folder, name, 'VERSION'), JSON.stringify({ version }));
  await writeFile(join(folder, name, 'install.sh'), 'exit 0\n');
  await run('tar', ['-czf', join(folder, 'p.tar.gz'), '-C', folder, name]);
  return readFile(join(folder, 'p.tar.gz'));
}

class RootWorld {
  readonly installation: Installation;
  readonly directory: string;
  readonly bytes: Buffer;
  readonly installed: string[] = [];
  readonly finished: string[] = [];
  readonly said: string[] = [];
  key: string = key.publicText;
  ended: Installed = { code: 0, complained: '' };
  /** instead of the end of an installation: root is killed */
  isKilled = false;
  #runId = 1;

  private constructor(folder: string, bytes: Buffer) {
    this.installation = new Installation(join(folder, 'opt'));
    this.directory = join(folder, 'data');
    this.bytes = bytes;
  }

  static async make(t: ExecutionContext): Promise<RootWorld> {
    const folder = await folderFor(t);
    const world = new RootWorld(folder, await packed(folder, '0.2.0'));
    await mkdir(join(folder, 'opt', 'releases', '0.1.0'), { recursive: true });
    await symlink('releases/0.1.0', join(folder, 'opt', 'current'));
    await world.hand([releaseOf('0.2.0', world.bytes)]);
    return world;
  }

  path = (name: keyof typeof FILES): string => join(this.directory, FOLDER, FILES[name]);

  /** What the panel writes. */
  async hand(
    releases: readonly Release[],
    request: object = {},
    fields: object = {},
    signer = key,
  ): Promise<void> {
    await mkdir(join(this.directory, FOLDER), { recursive: true });
    const index = Buffer.from(
      JSON.stringify({ format: FORMAT, number: 5, createdAt: 0, releases, ...fields }),
    );
    await writeFile(this.path('index'), index);
    await writeFile(this.path('signature'), signatureOf(index, signer, 'test'));
    await writeFile(this.path('package'), this.bytes);
    const asked = { runId: String(this.#runId++), version: '0.2.0', at: Date.now(), ...request };
    await writeFile(this.path('request'), JSON.stringify(asked));
  }

  async serve(): Promise<NonNullable<ReturnType<typeof readOutcome>> | undefined> {
    await serveRequest({
      installation: this.installation,
      directory: this.directory,
      key: this.key,
      install: async (folder) => {
        this.installed.push(JSON.parse(await readFile(join(folder, 'VERSION'), 'utf8')).version as string);
        if (this.isKilled) await new Promise(() => undefined);
        return this.ended;
      },
      finish: async (version) => {
        this.finished.push(version);
        return this.ended;
      },
      say: (line) => void this.said.push(line),
      complain: (line) => void this.said.push(line),
    });
    return this.outcome();
  }

  async outcome() {
    const text = await readFile(join(this.installation.root, OUTCOME), 'utf8').catch(() => '');
    return readOutcome(text);
  }
}

test('installs what is signed, once, and says so where the panel can read it', async (t) => {
  const world = await RootWorld.make(t);
  t.like(await world.serve(), {
    runId: '1',
    state: 'success',
    version: '0.2.0',
    exitCode: 0,
    reason: '',
    number: 5,
  });
  t.deepEqual(world.installed, ['0.2.0']);
  t.is((await run('stat', ['-c', '%a', join(world.installation.root, OUTCOME)])).stdout.trim(), '640');
  t.deepEqual(
    (await readdir(world.installation.root)).sort(),
    ['current', 'releases', OUTCOME],
    'nothing is left',
  );
  await world.serve();
  t.deepEqual(world.installed, ['0.2.0'], 'the same request again does nothing');
});

test('does nothing without a request', async (t) => {
  const world = await RootWorld.make(t);
  await rm(world.path('request'));
  t.is(await world.serve(), undefined);
  await writeFile(world.path('request'), '{"runId": "../../x", "version": "0.2.0", "at": 1}');
  t.is(await world.serve(), undefined);
  t.deepEqual(world.installed, []);
});

test('a failed installation is recorded with its reason, and the next one may come', async (t) => {
  const world = await RootWorld.make(t);
  await mkdir(world.installation.folderOf('0.2.0'));
  world.ended = { code: 1, complained: 'nothing was changed: Weir 0.2.0 would not start as 0.1.0 does\n' };
  t.like(await world.serve(), { state: 'failed', exitCode: 1, number: 5 });
  t.regex((await world.outcome())?.reason ?? '', /nothing was changed: Weir 0\.2\.0 would not start/);
  world.ended = { code: 0, complained: '' };
  t.deepEqual(await world.installation.releases(), ['0.1.0'], 'the release that does not work is removed');
  await world.hand([releaseOf('0.2.0', world.bytes)]);
  t.like(await world.serve(), { runId: '2', state: 'success' });
});

const REFUSED: Readonly<Record<string, readonly [(world: RootWorld) => Promise<unknown>, RegExp]>> = {
  'another key': [
    (world) => world.hand([releaseOf('0.2.0', world.bytes)], {}, {}, newKey()),
    /signed with the key [0-9A-F]{16}, and the trusted one is/,
  ],
  'no key at all': [async (world) => void (world.key = ''), /root trusts no key/],
  'a changed index': [
    async (world) => {
      const text = await readFile(world.path('index'), 'utf8');
      await writeFile(world.path('index'), text.replace('0.2.0', '0.2.1'));
    },
    /the signature does not match/,
  ],
  'another package': [
    (world) => writeFile(world.path('package'), Buffer.alloc(world.bytes.length, 'x')),
    /the package has the SHA-256 [0-9a-f]{64}, and the signed index has/,
  ],
  'half a package': [
    (world) => truncate(world.path('package'), 100),
    /has 100 bytes, and the signed index has/,
  ],
  'a longer package': [
    (world) => writeFile(world.path('package'), Buffer.concat([world.bytes, Buffer.from('x')])),
    /is not a file, or too large/,
  ],
  'a package that is a link': [
    async (world) => {
      await rm(world.path('package'));
      await writeFile(join(world.directory, 'elsewhere'), world.bytes);
      await symlink(join(world.directory, 'elsewhere'), world.path('package'));
    },
    /ELOOP/,
  ],
  'a package that is a pipe': [
    async (world) => {
      await rm(world.path('package'));
      await run('mkfifo', [world.path('package')]);
    },
    /is not a file, or too large/,
  ],
  'an index that is a link to a file of root': [
    async (world) => {
      await rm(world.path('index'));
      await symlink('/etc/shadow', world.path('index'));
    },
    /ELOOP/,
  ],
  'an older release': [
    (world) => world.hand([releaseOf('0.0.9', world.bytes)], { version: '0.0.9' }),
    /Weir 0\.0\.9 is older than 0\.1\.0/,
  ],
  'the running release': [
    (world) => world.hand([releaseOf('0.1.0', world.bytes)], { version: '0.1.0' }),
    /Weir 0\.1\.0 runs already/,
  ],
  'a release that needs another one before it': [
    (world) => world.hand([releaseOf('0.2.0', world.bytes, { minimum: '0.1.5' })]),
    /needs 0\.1\.5 or newer before it/,
  ],
  'a release that is not in the index': [
    (world) => world.hand([releaseOf('0.2.0', world.bytes)], { version: '0.3.0' }),
    /has no release 0\.3\.0/,
  ],
  'a package with another version inside': [
    (world) => world.hand([releaseOf('0.2.1', world.bytes)], { version: '0.2.1' }),
    /the package is Weir 0\.2\.0, and the signed index has 0\.2\.1/,
  ],
  'a package for another machine': [
    (world) =>
      world.hand([
        releaseOf('0.2.0', world.bytes, {
          files: [
            {
              ...releaseOf('0.2.0', world.bytes).files[0],
              platform: process.arch === 'x64' ? 'linux-arm64' : 'linux-x64',
            } as never,
          ],
        }),
      ]),
    /has no package for linux-/,
  ],
  'a request of yesterday': [
    (world) => world.hand([releaseOf('0.2.0', world.bytes)], { at: Date.now() - 24 * 3_600_000 }),
    /the request is too old/,
  ],
  'an expired index': [
    (world) => world.hand([releaseOf('0.2.0', world.bytes)], {}, { expiresAt: 1 }),
    /expired at 1970/,
  ],
};
for (const [name, [change, reason]] of Object.entries(REFUSED))
  test(`refuses ${name}`, async (t) => {
    const world = await RootWorld.make(t);
    await change(world);
    const outcome = await world.serve();
    t.like(outcome, { state: 'failed', exitCode: 1 });
    t.regex(outcome?.reason ?? '', reason);
    t.deepEqual(world.installed, []);
    t.deepEqual((await readdir(world.installation.root)).sort(), ['current', 'releases', OUTCOME]);
  });

test('refuses an index that is older than that of its last update', async (t) => {
  const world = await RootWorld.make(t);
  world.ended = { code: 1, complained: 'it does not work' };
  await world.serve();
  await world.hand([releaseOf('0.2.0', world.bytes)], {}, { number: 4 });
  const outcome = await world.serve();
  t.regex(outcome?.reason ?? '', /older one: number 4, and 5 was there before/);
  t.is(outcome?.number, 5);
  t.deepEqual(world.installed, ['0.2.0']);
});

test('an index that is signed with another trusted key has numbers of its own', async (t) => {
  const world = await RootWorld.make(t);
  world.ended = { code: 1, complained: 'it does not work' };
  await world.serve();
  const next = newKey();
  world.key = next.publicText;
  world.ended = { code: 0, complained: '' };
  await world.hand([releaseOf('0.2.0', world.bytes)], {}, { number: 1 }, next);
  t.like(await world.serve(), { state: 'success', number: 1 });
});

test('trusts the key of the package where /etc/weir.env names none', async (t) => {
  const world = await RootWorld.make(t);
  world.key = '';
  await writeFile(join(world.installation.root, 'current', PACKAGE_KEY), `${key.publicText}\n`);
  t.is((await world.serve())?.state, 'success');
});

test('killed before the switch, it begins again', async (t) => {
  const world = await RootWorld.make(t);
  world.isKilled = true;
  void world.serve();
  while (world.installed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  t.is((await world.outcome())?.state, 'running');
  const { at } = (await world.outcome()) ?? {};
  world.isKilled = false;
  const outcome = await world.serve();
  t.like(outcome, { state: 'success', at: at ?? 0 });
  t.deepEqual(world.installed, ['0.2.0', '0.2.0']);
  t.deepEqual(world.finished, []);
});

for (const [state, finished, wanted] of [
  ['under way', ['0.2.0'], 'success'],
  ['done', [], 'success'],
  ['failed', [], 'failed'],
] as const)
  test(`killed when the record of the upgrade is "${state}", it ends what is left`, async (t) => {
    const world = await RootWorld.make(t);
    world.isKilled = true;
    void world.serve();
    while (world.installed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    world.isKilled = false;
    await world.installation.write('upgrade.json', {
      ...{ at: Date.now(), state, from: '0.1.0', to: '0.2.0', backup: '', notRunning: [] },
      problem: state === 'failed' ? 'it exits' : '',
    });
    t.is((await world.serve())?.state, wanted);
    t.deepEqual(world.finished, finished);
    t.deepEqual(world.installed, ['0.2.0']);
    if (wanted === 'failed')
      t.is((await world.outcome())?.reason, 'Weir 0.2.0 does not work: it exits; 0.1.0 is back');
  });

test('after a failure the way back stays, and all releases while an upgrade is under way', async (t) => {
  const world = await RootWorld.make(t);
  const { installation } = world;
  for (const version of ['0.0.8', '0.0.9', '0.2.0']) await mkdir(installation.folderOf(version));
  await installation.link('previous', '0.0.9');
  world.ended = { code: 1, complained: 'it was interrupted' };
  const record = { at: Date.now(), from: '0.1.0', to: '0.2.0', backup: '', notRunning: [], problem: '' };
  await installation.write('upgrade.json', { ...record, state: 'under way' });
  await world.serve();
  t.deepEqual(await installation.releases(), ['0.0.8', '0.0.9', '0.1.0', '0.2.0']);
  await installation.write('upgrade.json', { ...record, state: 'failed' });
  await world.hand([releaseOf('0.2.0', world.bytes)]);
  await world.serve();
  t.deepEqual(await installation.releases(), ['0.0.9', '0.1.0']);
});

test('a long reason is shortened, so that the panel can read the outcome', async (t) => {
  const world = await RootWorld.make(t);
  world.isKilled = true;
  void world.serve();
  while (world.installed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  world.isKilled = false;
  await world.installation.write('upgrade.json', {
    ...{ at: Date.now(), state: 'failed', from: '0.1.0', to: '0.2.0', backup: '', notRunning: [] },
    problem: `${'x'.repeat(100_000)} it exits`,
  });
  t.is((await world.serve())?.state, 'failed');
  const { reason = '' } = (await world.outcome()) ?? {};
  t.regex(reason, /^Weir 0\.2\.0 does not work: x+ it exits; 0\.1\.0 is back$/);
  await world.serve();
  t.deepEqual(world.installed, ['0.2.0'], 'the same request again does nothing');
});

test('killed, it goes on where the clock was set back meanwhile', async (t) => {
  const world = await RootWorld.make(t);
  world.isKilled = true;
  void world.serve();
  while (world.installed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  world.isKilled = false;
  await world.installation.write('upgrade.json', {
    ...{ at: Date.now() - 3_600_000, state: 'under way', from: '0.1.0', to: '0.2.0', backup: '' },
    ...{ notRunning: [], problem: '' },
  });
  t.is((await world.serve())?.state, 'success');
  t.deepEqual(world.finished, ['0.2.0']);
});
