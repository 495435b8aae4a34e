// Readers of further schemes, from plugins of others.
import test from 'ava';
import { contribute, definePlugin, type Plugin } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { LinkError, LinkReader, type LinkReaderApi, SchemeReaders } from '../contract.js';

const plugin = (name: string, reader: unknown, seen?: { reader?: LinkReaderApi }): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    uses: { reader: LinkReader },
    contributes: () => (reader === undefined ? [] : [contribute(SchemeReaders, reader as never)]),
    start: ({ reader: found }) => void (seen && (seen.reader = found)),
  });
const pigeon = {
  server: 'loft.example',
  port: 1,
  account: { protocol: 'pigeon', ring: 'a' },
  transport: { kind: 'own' },
  security: { kind: 'none' },
};

test('a plugin reads links of its own scheme; one that fails is named, and callers get the declared error', async (t) => {
  const seen: { reader?: LinkReaderApi } = {};
  let answer: () => unknown = () => pigeon;
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [
      plugin('birds', { schemes: ['pigeon', 'dove'], read: () => answer() }),
      plugin('asks', undefined, seen),
    ],
  });
  const { reader } = seen;
  if (!reader) throw new Error('the plugin did not start');
  const faults = (): number =>
    panel.log.filter((line) => (JSON.parse(line) as { msg: string }).msg === 'plugin fault').length;
  t.true(reader.schemes().includes('dove') && reader.schemes().includes('vless'));
  t.deepEqual(reader.read('Pigeon://x#coo'), { ...pigeon, name: 'coo' } as never);
  answer = () => ({ ...pigeon, name: 'own\nname' });
  t.is(reader.read('dove://x#coo').name, 'own name');
  answer = () => {
    throw new LinkError('ring', 'it has no ring');
  };
  t.is(t.throws(() => reader.read('dove://x'), { instanceOf: LinkError }).part, 'ring');
  answer = () => ({ ...pigeon, port: 70_000 });
  t.is(t.throws(() => reader.read('dove://x'), { instanceOf: LinkError }).part, 'port');
  answer = () => ({ ...pigeon, account: { protocol: 'pigeon', ring: () => 'a' } });
  t.throws(() => reader.read('dove://x'), { instanceOf: LinkError });
  t.is(faults(), 0);
  for (const wrong of [
    () => {
      throw new TypeError('broken');
    },
    () => undefined,
    () => Promise.reject(new Error('too late')),
  ]) {
    answer = wrong;
    t.is(t.throws(() => reader.read('dove://x'), { instanceOf: LinkError }).part, 'scheme');
  }
  t.is(faults(), 3);
});

test('a reader without schemes, or of a scheme that is read already, is refused', async (t) => {
  for (const [reader, says] of [
    [{ schemes: [], read: () => pigeon }, /needs a list of schemes/],
    [{ schemes: ['a'] }, /needs a list of schemes and a function read/],
    [{ schemes: ['A://'], read: () => pigeon }, /word in lower case/],
    [
      { schemes: ['pigeon', 'trojan'], read: () => pigeon },
      /trojan is read by the plugin link-reader already/,
    ],
  ] as const) {
    const boot = TestPanel.boot({
      plugins: [new FakeEngine().plugin],
      outside: [plugin('birds', reader)],
    });
    t.regex((await t.throwsAsync(boot)).message, says);
  }
});
