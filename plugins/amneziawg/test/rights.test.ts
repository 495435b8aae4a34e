// What a machine must have, and what is said where it lacks something.
import test, { type ExecutionContext } from 'ava';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../processes/contract.js';
import { ownsInterface } from '../device-owner.js';
import { rightsProblem } from '../rights.js';

const ROOT = 'Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nCapAmb:\t0000000000000000\n';
const SERVICE = 'Uid:\t990\t990\t990\t990\nCapEff:\t0000000000001000\nCapAmb:\t0000000000001000\n';

async function machine(t: ExecutionContext, status: string) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-awg-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'status'), status);
  await writeFile(join(folder, 'tun'), '');
  await mkdir(join(folder, 'bin'));
  for (const name of ['ip', 'nft']) {
    await writeFile(join(folder, 'bin', name), '#!/bin/sh\n');
    await chmod(join(folder, 'bin', name), 0o755);
  }
  return {
    folder,
    of: {
      platform: 'linux',
      status: join(folder, 'status'),
      tun: join(folder, 'tun'),
      run: [folder],
      path: () => join(folder, 'bin'),
    },
  };
}

test('root, and a service with the ambient right, can make interfaces', async (t) => {
  for (const status of [ROOT, SERVICE]) {
    const { of } = await machine(t, status);
    t.is(await rightsProblem(of), undefined);
  }
});

test('what is missing is named, with the way out', async (t) => {
  const { of, folder } = await machine(t, ROOT);
  const problem = (more: Partial<typeof of>) => rightsProblem({ ...of, ...more });
  t.regex((await problem({ platform: 'darwin' })) ?? '', /Linux only/);
  for (const status of [
    ROOT.replace('000001ffffffffff', '000001ffffffefff'),
    SERVICE.replace(/CapAmb:.*/, 'CapAmb:\t0000000000000000'),
    'nonsense',
  ]) {
    await writeFile(join(folder, 'other'), status);
    t.regex((await problem({ status: join(folder, 'other') })) ?? '', /CAP_NET_ADMIN/, status);
  }
  t.regex((await problem({ status: '/nonexistent' })) ?? '', /CAP_NET_ADMIN/);
  t.regex((await problem({ tun: join(folder, 'no') })) ?? '', /load the module tun/);
  t.regex((await problem({ run: [join(folder, 'no')] })) ?? '', /cannot write to/);
  await rm(join(folder, 'bin', 'nft'));
  t.regex((await problem({})) ?? '', /nft is missing; install the package nftables/);
  await rm(join(folder, 'bin', 'ip'));
  t.regex((await problem({})) ?? '', /ip is missing; install the package iproute2/);
});

test('a program of the system has limits, and its failure is told in its words', async (t) => {
  t.is(await runCommand('cat', [], 'x'), 'x');
  await t.throwsAsync(runCommand('sh', ['-c', 'echo no such table >&2; exit 3']), {
    message: 'sh failed: no such table',
  });
  await t.throwsAsync(runCommand('/nonexistent/nft', []), {
    message: 'the program /nonexistent/nft is missing',
  });
  await t.throwsAsync(runCommand('sh', ['-c', 'yes']), { message: /writes too much/ });
  await t.throwsAsync(runCommand('sh', ['-c', 'yes >&2']), { message: /writes too much/ });
  await t.throwsAsync(runCommand('sh', ['-c', 'sleep 100 & wait'], '', 200), {
    message: /did not end within 0.2 s/,
  });
  await t.throwsAsync(
    runCommand('false', [], 'x'.repeat(1_000_000)),
    { message: /exit code 1/ },
    'input is not read',
  );
});

test('a process without the interface does not own it', async (t) => {
  t.false(await ownsInterface(process.pid, 'awg1'));
  await t.throwsAsync(ownsInterface(2 ** 22 + 1, 'awg1'));
});
