// Thousands of new keys at once, as with a bulk of new clients of a tunnel: Node must not stand still over it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';

/** Of 3,000 keys made in the other way, every second run stood still. */
const KEYS = 15_000;
const LIMIT_MS = 120_000;

for (const [module, name] of [
  ['../protocols/wireguard/keys.js', 'newKeyPair'],
  ['../../edgetunnel/keys.js', 'newKeyPair'],
  ['../../keygen/contract.js', 'newX25519'],
] as const)
  test(`${KEYS} pairs of ${module} are made without a stop, and each is another one`, async (t) => {
    const script = `
      import { ${name} } from ${JSON.stringify(new URL(module, import.meta.url).href)};
      const seen = new Set();
      for (let i = 0; i < ${KEYS}; i++) {
        const { privateKey, publicKey } = ${name}();
        const bytes = Buffer.from(privateKey, 'base64');
        if (bytes.length === 32 && (bytes[0] & 7) === 0 && bytes[31] >> 6 === 1) seen.add(publicKey);
      }
      process.stdout.write(String(seen.size));
    `;
    // In a process of its own, with collections of garbage all the time: one that stands still can only be killed.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--max-semi-space-size=1', '--input-type=module', '-e', script],
      { timeout: LIMIT_MS, killSignal: 'SIGKILL' },
    );
    t.is(stdout, String(KEYS));
  });
