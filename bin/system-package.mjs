// Programs of the system that tests need: found, or installed from its packages.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './setup.mjs';

const isRoot = () => process.getuid?.() === 0;

/** Path of a program; also searches the folders of root's programs. */
export function pathOf(name) {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/local/sbin',
    '/usr/sbin',
    '/usr/local/bin',
    '/usr/bin',
    '/opt/homebrew/bin',
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * Installs a package of Debian, without what it recommends.
 * @param what the name for people
 * @param wanted what they install where this cannot
 * Resolves with a sentence that says why the program is still missing, or with undefined.
 */
export async function installPackage({ what, wanted, program, name }) {
  const nothing = `${program} is missing`;
  const onDebian = existsSync('/etc/debian_version') && pathOf('apt-get') !== undefined;
  const command = `apt-get update && apt-get install -y --no-install-recommends ${name}`;
  if (process.env.WEIR_TEST_INSTALL === 'off')
    return `${nothing}, and WEIR_TEST_INSTALL=off forbids installing it`;
  if (!onDebian || !isRoot())
    return `${nothing}; install ${wanted}${onDebian ? `, as root: ${command}` : ''}`;
  process.stderr.write(
    `${what} is missing; installing it for the tests: ${command} (WEIR_TEST_INSTALL=off prevents this) …\n`,
  );
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get update', 'apt-get', ['update', '-qq'], { env });
    await run('apt-get install', 'apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], {
      env,
    });
  } catch (error) {
    return `${what} could not be installed: ${error.message}`;
  }
  return pathOf(program) === undefined ? `${nothing} even after ${command}` : undefined;
}
