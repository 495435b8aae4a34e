// Thousands of new keys at once, as with a bulk of new clients of a tunnel: Node must not stand still over it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';

/** Of 3,000 keys made in the other way, every second run stood still. */
const KEYS = 15_000;
const LIMIT_MS = 120_000;

test(`${KEYS} pairs are made without a stop, and each is another one`, async (t) => {
  const module = new URL('../contract.js', import.meta.url).href;
  const script = `
    import { newX25519 } from ${JSON.stringify(module)};
    const seen = new Set();
    for (let i = 0; i < ${KEYS}; i++) {
      const { privateKey, publicKey } = newX25519(i % 2 ? 'base64' : 'base64url');
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
