// Downloads the core's pinned release: the digest, then the archive; unpacks one file, runs it once and moves it into place.
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { messageOf } from '../../../kernel/index.js';
import { fetchFile, type Timeouts, DEFAULT_TIMEOUTS } from './fetch.js';
import { assetOf, CORE_VERSION, PROGRAM, type Progress, thisMachine } from './release.js';
import { unzip } from './unzip.js';

const LARGEST = 200 * 1024 * 1024;
const LARGEST_DIGEST = 64 * 1024;
const TRIAL_LIMIT_MS = 10_000;

const MiB = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** The `.dgst` file has a line for each kind of digest, as openssl writes them. */
export function digestIn(text: string): string | undefined {
  return /^SHA(?:2-)?256[ \t]*(?:\([^)\n]*\)[ \t]*)?=[ \t]*([0-9a-f]{64})[ \t\r]*$/im
    .exec(text)?.[1]
    ?.toLowerCase();
}

interface Source {
  readonly url: string;
  /** given by the admin; takes precedence over the server's */
  readonly sha256: string | undefined;
  readonly log: Progress;
  readonly timeouts: Timeouts;
}

async function expectedDigest({ url, sha256, timeouts }: Source): Promise<{ digest: string; from: string }> {
  if (sha256) return { digest: sha256.toLowerCase(), from: 'WEIR_ENGINE_SHA256' };
  const digest = digestIn((await fetchFile(`${url}.dgst`, { limit: LARGEST_DIGEST, timeouts })).toString());
  if (!digest) throw new Error(`${url}.dgst names no SHA-256`);
  return { digest, from: `${url}.dgst` };
}

async function fetchArchive(source: Source): Promise<Buffer> {
  const { url, log, timeouts } = source;
  log.info('downloading the core', { version: CORE_VERSION, url });
  const expected = await expectedDigest(source);
  let progress = '';
  const reporting = setInterval(
    () => log.info('still downloading the core', { received: progress }),
    timeouts.reportMs,
  );
  try {
    const zip = await fetchFile(url, {
      limit: LARGEST,
      timeouts,
      onProgress: (bytes, of) => (progress = of === undefined ? MiB(bytes) : `${MiB(bytes)} of ${MiB(of)}`),
    });
    const digest = createHash('sha256').update(zip).digest('hex');
    if (digest !== expected.digest)
      throw new Error(`${url} has the SHA-256 ${digest}, but ${expected.from} says ${expected.digest}`);
    return zip;
  } finally {
    clearInterval(reporting);
  }
}

/** A child that is forked at this moment holds the new file open until its exec. */
async function versionOf(program: string): Promise<{ stdout: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await promisify(execFile)(program, ['version'], { timeout: TRIAL_LIMIT_MS });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ETXTBSY' || attempt === 10) throw error;
      await sleep(20);
    }
  }
}

/** Checks that the file runs here: a file for another machine would be found at each start, and never run. */
async function tryOut(program: string): Promise<void> {
  const { stdout } = await versionOf(program).catch((cause: unknown) => {
    throw new Error(`the downloaded core does not run on this machine: ${messageOf(cause).split('\n')[0]}`, {
      cause,
    });
  });
  if (!stdout.includes(CORE_VERSION))
    throw new Error(
      `the downloaded core is not version ${CORE_VERSION} but reports "${stdout.split('\n')[0]}"`,
    );
}

/** Several processes may do this at once: the last one's file stays, all are the same. */
async function place(program: Buffer, binary: string): Promise<void> {
  const unfinished = join(dirname(binary), `unfinished-${randomUUID()}`);
  try {
    await mkdir(dirname(binary), { recursive: true });
    await writeFile(unfinished, program, { mode: 0o755 });
    await tryOut(unfinished);
    await rename(unfinished, binary);
  } finally {
    await rm(unfinished, { force: true }).catch(() => undefined);
  }
}

/** Puts the core at the path `binary`. */
export async function downloadCore(
  { releases, sha256 }: { readonly releases: string; readonly sha256?: string | undefined },
  binary: string,
  log: Progress,
  timeouts: Timeouts = DEFAULT_TIMEOUTS,
): Promise<{ binary: string } | { why: string }> {
  const machine = thisMachine();
  const asset = assetOf(machine);
  if (!asset) return { why: `no release is known for ${machine.platform} on ${machine.arch}` };
  const base = releases.replace(/\/+$/, '');
  try {
    const zip = await fetchArchive({
      url: `${base}/v${CORE_VERSION}/${asset}`,
      sha256,
      log,
      timeouts,
    });
    await place(await unzip(zip, PROGRAM, LARGEST), binary);
    return { binary };
  } catch (error) {
    return { why: messageOf(error) };
  }
}
