// What a killed panel leaves in its folders and among the processes, beyond what a panel that runs has.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths below the data folder that a running panel may have. */
const KNOWN = [
  /^weir\.sqlite(-wal|-shm)?$/,
  /^panel\.(lock(-journal)?|node-epoch|pid|secret|sock)$/,
  /^(first-login\.txt|secrets\.key|restore\.json|weir\.json)$/,
  /^engine\/(access\.log|api\.sock(\.lock)?|config\.json|core\.json|error\.log|name-mark|stdout\.log)$/,
  /^sidecars\/mtproto-route\.key$/,
  /^time-series\/[\w.-]+\.series$/,
  /^backups\/weir_[\d_-]+\.db(\.json)?$/,
];

/** What is in the data folder, or in the folder for temporary files, and belongs to nothing. */
export async function strayFiles(dataDirectory: string, temporary: string): Promise<string[]> {
  const entries = await readdir(dataDirectory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(dataDirectory.length + 1));
  return [
    ...paths.filter((path) => !KNOWN.some((known) => known.test(path))),
    ...(await readdir(temporary)).map((name) => `temporary: ${name}`),
  ];
}

/** Processes whose command line or environment names the data folder, as `pid command`, without these. */
export async function strayProcesses(
  dataDirectory: string,
  expected: readonly (number | undefined)[],
): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid || expected.includes(pid)) continue;
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    const [command, environment] = await Promise.all([read('cmdline'), read('environ')]);
    if (command.includes(dataDirectory) || environment.includes(dataDirectory))
      found.push(`${pid} ${command.replaceAll('\0', ' ')}`);
  }
  return found;
}
