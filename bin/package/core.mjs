// The core: built from its pinned Go module for the target. Go's own cache makes a second build short.
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { cached, checkMachine, MACHINES, run } from './target.mjs';

const PACKAGE = 'github.com/xtls/xray-core/main';
const MODULE = join(root, 'plugins', 'engine', 'install', 'core');
/** Dependencies of tests and of other programs of the module are not in the binary. */
const LISTED = '{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}';

/** Resolves with the version, and name, version and folder of each Go module inside. */
export async function buildCore(folder, arch) {
  const env = {
    ...process.env,
    GOFLAGS: '-mod=readonly',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
    GOOS: 'linux',
    GOARCH: MACHINES[arch].go,
  };
  const go = (what, args) => run(what, 'go', args, { cwd: MODULE, env });
  const compiler = (await go('Go', ['version'])).trim();
  const sums = await readFile(join(MODULE, 'go.sum'), 'utf8');
  const kept = await cached(`core-${arch}`, { compiler: compiler.split(' ')[2], sums }, async (draft) => {
    await go('the build of the core', [
      ...['build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', join(draft, 'xray'), PACKAGE],
    ]);
  });
  const binary = join(folder, 'bin', 'xray');
  await copyFile(join(kept, 'xray'), binary);
  await checkMachine(binary, arch);
  await mkdir(join(folder, 'core-source'), { recursive: true });
  for (const name of ['go.mod', 'go.sum'])
    await copyFile(join(MODULE, name), join(folder, 'core-source', name));
  const listed = await go('the list of Go modules', ['list', '-deps', '-f', LISTED, PACKAGE]);
  const modules = [...new Set(listed.split('\n'))]
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
    .map(([name, version, at]) => ({ name, version, folder: at }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const goRoot = (await go('Go', ['env', 'GOROOT'])).trim();
  const core = modules.find(({ name }) => name === 'github.com/xtls/xray-core');
  if (!core) throw new Error('go list names no Xray-core');
  return { version: await releaseOf(), modules, goRoot, goVersion: compiler.split(' ')[2] };
}

/** The name of the release; the module has another number. */
async function releaseOf() {
  const text = await readFile(join(root, 'plugins', 'engine', 'install', 'release.ts'), 'utf8');
  const [, version] = /CORE_VERSION = '([^']+)'/.exec(text) ?? [];
  if (version === undefined) throw new Error('release.ts has no CORE_VERSION');
  return version;
}
