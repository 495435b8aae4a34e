// The update that the panel has asked for, installed by root. The files of the request belong to the panel's user: nothing in
// them is believed that is not signed with a key that root trusts, and they are copied before they are verified.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chown, type FileHandle, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../file/replace.js';
import { messageOf } from '../../kernel/errors/errors.js';
import {
  fileFor,
  FILES,
  FOLDER,
  MOST_EXCHANGED,
  MOST_INDEX,
  MOST_SIGNATURE,
  OUTCOME,
  PACKAGE_KEY,
  platformHere,
  readIndex,
  readOutcome,
  readPublicKeys,
  readRequest,
  type ReleaseFile,
  REQUEST_LIFE_MS,
  type UpdateOutcome,
  type UpdateRequest,
  whyNot,
} from '../../plugins/updates/contract.js';
import type { Installation } from './installation.js';
import { unpack } from './unpack.js';

const LONGEST_REASON = 4_000;
const CHUNK = 1024 * 1024;

export interface Installed {
  /** exit code of `install.sh`, or of the command that finishes an upgrade */
  readonly code: number;
  /** what it wrote to standard error, its end */
  readonly complained: string;
}
/** What root needs; tests have their own. */
export interface RequestWorld {
  readonly installation: Installation;
  /** the data folder */
  readonly directory: string;
  /** of `/etc/weir.env`; blank for the key of the package */
  readonly key: string;
  /** Runs `install.sh` of an unpacked package. */
  readonly install: (folder: string) => Promise<Installed>;
  /** Finishes an upgrade to a release that is linked already. */
  readonly finish: (version: string) => Promise<Installed>;
  readonly say: (line: string) => void;
  readonly complain: (line: string) => void;
}

/** Without following a link, and without waiting for a pipe. */
async function openFile(path: string, most: number): Promise<{ file: FileHandle; size: number }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = await file.stat();
  if (found.isFile() && found.size <= most) return { file, size: found.size };
  await file.close();
  throw new Error(`${path} is not a file, or too large`);
}

async function readUpTo(path: string, most: number): Promise<Buffer> {
  const { file } = await openFile(path, most);
  try {
    // It may grow while it is read.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most + 1), 0, most + 1, 0);
    if (bytesRead > most) throw new Error(`${path} is too large`);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Copies the package to where its user cannot change it any more, and rejects another one than the signed index names. */
async function copyPackage(from: string, to: string, { size, sha256 }: ReleaseFile): Promise<void> {
  const source = await openFile(from, size);
  const copy = await open(to, 'wx', 0o600);
  try {
    if (source.size !== size)
      throw new Error(`the package has ${source.size} bytes, and the signed index has ${size}`);
    const hash = createHash('sha256');
    const buffer = Buffer.alloc(CHUNK);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await source.file.read(buffer, 0, Math.min(CHUNK, size - at), at);
      if (bytesRead === 0) throw new Error('the package became shorter while it was read');
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      await copy.writeFile(chunk);
      at += bytesRead;
    }
    const digest = hash.digest('hex');
    if (digest !== sha256)
      throw new Error(`the package has the SHA-256 ${digest}, and the signed index has ${sha256}`);
  } finally {
    await copy.close();
    await source.file.close();
  }
}

/** Why the upgrade failed: its record, or the end of what it said. */
async function failureOf(
  { installation }: RequestWorld,
  version: string,
  { code, complained }: Installed,
): Promise<string> {
  const record = await installation.record('upgrade.json').catch(() => undefined);
  const said = complained.trim().replaceAll(/\s*\n\s*/g, '; ') || `install.sh ended with code ${code}`;
  // The end of each: the panel reads no outcome that is larger, and would ask for the same update again.
  return record?.state === 'failed' && record.to === version && record.problem !== ''
    ? `Weir ${version} does not work: ${record.problem.slice(-LONGEST_REASON)}; ${record.from} is back`
    : said.slice(-LONGEST_REASON);
}

async function verifyAndInstall(
  world: RequestWorld,
  request: UpdateRequest,
  last: UpdateOutcome | undefined,
) {
  const { installation, directory, key, say } = world;
  const folder = join(directory, FOLDER);
  const current = await installation.current();
  if (current === undefined) throw new Error(`${installation.root} has no current release`);
  const ofPackage = () => readFile(join(installation.folderOf(current), PACKAGE_KEY), 'utf8').catch(() => '');
  const keys = readPublicKeys(key === '' ? await ofPackage() : key);
  if (keys.length === 0)
    throw new Error('root trusts no key: write WEIR_UPDATE_KEY=<public key> into /etc/weir.env');
  const index = readIndex(
    await readUpTo(join(folder, FILES.index), MOST_INDEX),
    (await readUpTo(join(folder, FILES.signature), MOST_SIGNATURE)).toString('utf8'),
    keys,
    Date.now(),
  );
  if (last?.key === index.key && index.number < last.number)
    throw new Error(
      `the index of releases is an older one: number ${index.number}, and ${last.number} was there before`,
    );
  const release = index.releases.find(({ version }) => version === request.version);
  if (!release) throw new Error(`the signed index has no release ${request.version}`);
  const unfit = whyNot(release, current, platformHere());
  if (unfit !== undefined) throw new Error(unfit);
  const file = fileFor(release, platformHere()) as ReleaseFile;
  const draft = await installation.draft();
  try {
    const path = join(draft, FILES.package);
    say(`verifying and unpacking Weir ${release.version}`);
    await copyPackage(join(folder, FILES.package), path, file);
    const unpacked = join(draft, 'package');
    await mkdir(unpacked);
    await unpack(path, unpacked);
    await rm(path);
    const about = JSON.parse(await readFile(join(unpacked, 'VERSION'), 'utf8')) as { version?: unknown };
    if (about.version !== release.version)
      throw new Error(
        `the package is Weir ${String(about.version)}, and the signed index has ${release.version}`,
      );
    const ended = await world.install(unpacked);
    return { ended, number: index.number, key: index.key };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes a release that did not work, which has 200 MiB. While an upgrade is under way, it needs all of them. */
async function removeUnused({ installation, complain }: RequestWorld): Promise<void> {
  try {
    if ((await installation.record('upgrade.json'))?.state === 'under way') return;
    await installation.prune([await installation.current(), await installation.previous()]);
  } catch (error) {
    complain(`releases that are not used cannot be removed: ${messageOf(error)}`);
  }
}

/** Finishes what was killed after the new release was linked. Undefined where it was killed before that. */
async function goOn({ installation, finish, say }: RequestWorld, version: string, since: number) {
  const record = await installation.record('upgrade.json').catch(() => undefined);
  // One under way is of this update, also where the clock was set back meanwhile.
  if (record?.to !== version || (record.at < since && record.state !== 'under way')) return undefined;
  if (record.state === 'done') return { code: 0, complained: '' };
  if (record.state === 'failed') return { code: 1, complained: record.problem };
  say(`the update to ${version} was interrupted; it goes on`);
  return finish(version);
}

/** Resolves with the exit code: 0 also after a failed update, because its outcome is recorded. */
export async function serveRequest(world: RequestWorld): Promise<number> {
  const { installation, directory, say, complain } = world;
  const content = await readUpTo(join(directory, FOLDER, FILES.request), MOST_EXCHANGED).catch(
    () => undefined,
  );
  const request = content && readRequest(content.toString('utf8'));
  if (!request) {
    say('no update is requested');
    return 0;
  }
  const { runId, version } = request;
  const path = join(installation.root, OUTCOME);
  const last = readOutcome(await readFile(path, 'utf8').catch(() => ''));
  const isAgain = last?.runId === runId;
  if (isAgain && last.state !== 'running') {
    say(`the update to ${version} is over`);
    return 0;
  }
  const begun: UpdateOutcome = {
    ...{ runId, state: 'running', version, at: isAgain ? last.at : Date.now(), finishedAt: 0 },
    ...{ exitCode: 0, reason: '', number: last?.number ?? 0, key: last?.key ?? '' },
  };
  // The panel reads it, and no other user: a reason may name paths.
  const { gid } = await stat(directory);
  const write = async (outcome: UpdateOutcome): Promise<void> => {
    await replaceFile(path, `${JSON.stringify(outcome)}\n`, 0o640);
    await chown(path, process.getuid?.() ?? 0, gid);
  };
  await write(begun);
  let outcome: UpdateOutcome;
  try {
    if (!isAgain && Math.abs(Date.now() - request.at) > REQUEST_LIFE_MS)
      throw new Error('the request is too old; start the update again');
    const finished = isAgain ? await goOn(world, version, begun.at) : undefined;
    const { ended, ...seen } = finished ? { ended: finished } : await verifyAndInstall(world, request, last);
    if (ended.code !== 0) await removeUnused(world);
    const reason = ended.code === 0 ? '' : await failureOf(world, version, ended);
    const state = ended.code === 0 ? 'success' : 'failed';
    outcome = { ...begun, ...seen, state, exitCode: ended.code, reason };
  } catch (error) {
    outcome = { ...begun, state: 'failed', exitCode: 1, reason: messageOf(error).slice(0, LONGEST_REASON) };
  }
  if (outcome.reason !== '') complain(`the update to ${version} failed: ${outcome.reason}`);
  await write({ ...outcome, finishedAt: Date.now() });
  return 0;
}
