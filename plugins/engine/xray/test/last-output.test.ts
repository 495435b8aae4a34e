import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { lastMessage } from '../last-output.js';

const BANNER = `Xray 26.3.27 (Xray, Penetrates Everything.) d2758a0 (go1.26.1 linux/amd64)
A unified platform for anti-censorship.
2026/11/23 08:00:00.123456 [Info] infra/conf/serial: Reading config: /x/config.json
`;
const STACKS = 'goroutine 7 [IO wait]:\ninternal/poll.runtime_pollWait(0x7f, 0x72)\n'.repeat(20_000);

const cases: readonly [what: string, output: string, expected: string | undefined][] = [
  ['nothing but the banner', BANNER, undefined],
  ['an empty file', '', undefined],
  [
    'a panic',
    `${BANNER}panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\n`,
    'panic: assignment to entry in nil map',
  ],
  [
    'a runtime that gives up, with megabytes of stacks',
    `${BANNER}fatal error: runtime: out of memory\n\n${STACKS}`,
    'fatal error: runtime: out of memory',
  ],
  [
    'a start that fails after many lines',
    `${BANNER.repeat(2000)}Failed to start: app/router: empty tag\n`,
    'empty tag',
  ],
  ['a signal', `${BANNER}SIGABRT: abort\nPC=0x47 m=0\n`, 'SIGABRT: abort'],
  [
    'another program',
    `${BANNER}flag provided but not defined: -c\nUsage:\n`,
    'flag provided but not defined: -c',
  ],
  [
    'a line without end, with control characters',
    `\u001b[2Joh\u0007${'x'.repeat(9000)}`,
    `[2Joh${'x'.repeat(495)}`,
  ],
];

test('the reason of an exit is found wherever it stands', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'stdout.log');
  t.is(await lastMessage(path), undefined, 'no file');
  for (const [what, output, expected] of cases) {
    await writeFile(path, output);
    t.is(await lastMessage(path), expected, what);
  }
});
