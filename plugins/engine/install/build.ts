// Builds the core from its pinned Go module, checked by go.sum.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CORE_VERSION, type Environment, keptCore, type Progress } from './release.js';

const PACKAGE = 'github.com/xtls/xray-core/main';
const OLDEST_GO = 26;
const REPORT_EVERY_MS = 5_000;
const BUILD_LIMIT_MS = 15 * 60_000;

/** go.mod lies in the source tree, this code in the build's. */
async function moduleFolder(): Promise<string> {
  for (
    let folder = new URL('./', import.meta.url);
    folder.pathname !== '/';
    folder = new URL('../', folder)
  ) {
    const manifest = await readFile(new URL('package.json', folder), 'utf8').catch(() => '{}');
    if ((JSON.parse(manifest) as { name?: string }).name === '@weir-panel/weir')
      return fileURLToPath(new URL('plugins/engine/install/core/', folder));
  }
  throw new Error('the source tree of Weir was not found above this file');
}

function run(
  args: readonly string[],
  options: { cwd: string; env: Environment; limit: number },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.limit,
    });
    // The compiler stops with the panel.
    const end = () => child.kill();
    process.on('exit', end);
    let output = '';
    const collect = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-4000));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => {
      process.off('exit', end);
      reject(error);
    });
    child.on('close', (code, signal) => {
      process.off('exit', end);
      if (code === 0) resolve(output);
      else
        reject(
          new Error(signal ? `it was killed by ${signal}` : output.trim().split('\n').slice(-3).join(' | ')),
        );
    });
  });
}

async function goProblem(env: Environment, cwd: string): Promise<string | undefined> {
  const version = await run(['version'], { cwd, env, limit: 10_000 }).catch(() => undefined);
  if (version === undefined)
    return `there is no Go on PATH; install Go 1.${OLDEST_GO} or newer, or Xray itself`;
  const [, minor] = /go1\.(\d+)/.exec(version) ?? [];
  return Number(minor) >= OLDEST_GO
    ? undefined
    : `Go 1.${OLDEST_GO} or newer is needed, but PATH has ${version.trim()}`;
}

/** Takes about a minute on two cores. Several processes may build at once: the last one's file stays, all are the same. */
export async function buildCore(
  env: Environment,
  log: Progress,
): Promise<{ binary: string } | { why: string }> {
  const cwd = await moduleFolder();
  // Flags of the environment could disable the check of go.sum, and no toolchain must be downloaded silently.
  const goEnv = { ...env, GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' };
  const problem = await goProblem(goEnv, cwd);
  if (problem) return { why: problem };
  const binary = keptCore(env);
  const folder = join(binary, '..');
  const unfinished = join(folder, `unfinished-${randomUUID()}`);
  const began = Date.now();
  log.info('building the core from its Go module; this takes a minute or two, once', {
    version: CORE_VERSION,
  });
  const reporting = setInterval(
    () => log.info('still building the core', { seconds: Math.round((Date.now() - began) / 1000) }),
    REPORT_EVERY_MS,
  );
  try {
    await mkdir(folder, { recursive: true });
    await run(['build', '-trimpath', '-ldflags', '-s -w', '-o', unfinished, PACKAGE], {
      cwd,
      env: goEnv,
      limit: BUILD_LIMIT_MS,
    });
    await rename(unfinished, binary);
    return { binary };
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    return { why: `the build failed: ${(error as Error).message}` };
  } finally {
    clearInterval(reporting);
  }
}
