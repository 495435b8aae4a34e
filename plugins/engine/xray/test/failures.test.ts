import test from 'ava';
import { lastWords, reasonOf } from '../failures.js';

const chain =
  'main: failed to load config files: [/x/config.json] > infra/conf: failed to build inbound config with tag in-1 > ';

const readable: Array<[string, string]> = [
  [
    `${chain}infra/conf: Config: unknown transport protocol: foo`,
    'inbound in-1: Config: unknown transport protocol: foo',
  ],
  [
    `${chain}infra/conf: failed to build inbound handler for protocol vless > infra/conf: VLESS settings: please add/set "decryption":"none" to every settings`,
    'inbound in-1: VLESS settings: please add/set "decryption":"none" to every settings',
  ],
  [
    `${chain}infra/conf: Failed to build TLS config. > infra/conf: failed to parse certificate > open /nope: no such file or directory`,
    'inbound in-1: failed to parse certificate: open /nope: no such file or directory',
  ],
  ['main: failed to create server > app/proxyman/inbound: existing tag found: aa', 'existing tag found: aa'],
  [
    'main: failed to create server > app/router: this rule has no effective fields',
    'this rule has no effective fields',
  ],
  [
    'app/proxyman/inbound: failed to listen TCP on 80 > transport/internet: failed to listen on address: 127.0.0.1:80 > listen tcp 127.0.0.1:80: bind: address already in use',
    'listen tcp 127.0.0.1:80: bind: address already in use',
  ],
];

for (const [text, expected] of readable) {
  test(`readable: ${expected}`, (t) => {
    t.is(reasonOf(text), expected);
    t.is(
      lastWords(`banner\n2026/11/21 [Warning] something is deprecated\nFailed to start: ${text}\n`),
      expected,
    );
  });
}

test('a panic is described by its first line', (t) => {
  t.is(
    lastWords(
      'banner\npanic: interface conversion: protocol.Account is *trojan.MemoryAccount, not *vless.MemoryAccount\n\ngoroutine 1 [running]:\n',
    ),
    'panic: interface conversion: protocol.Account is *trojan.MemoryAccount, not *vless.MemoryAccount',
  );
});

test('output that tells nothing', (t) => {
  t.is(lastWords('Xray 26.3.27 (Xray, Penetrates Everything.)\n'), undefined);
});
