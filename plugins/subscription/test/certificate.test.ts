// TLS of the subscription server: a pair is checked when it is saved, read again when it changes, and never replaced by
// a connection without encryption.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';

/** The fingerprint of the certificate that is served, and the status of the reply. */
const served = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path: '/s/nobody', rejectUnauthorized: false, agent: false },
      (answer) => {
        const { fingerprint256 } = (
          answer.socket as unknown as { getPeerCertificate(): { fingerprint256: string } }
        ).getPeerCertificate();
        answer.resume().on('end', () => resolve(`${answer.statusCode} ${fingerprint256}`));
      },
    );
    asked.on('error', reject).end();
  });

test('a certificate is checked, served from the next start on, and followed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-cert-'));
  const clock = new FakeClock();
  const options = { plugins: [new FakeEngine().plugin], clock };
  try {
    const [first, second] = [selfSigned(), selfSigned()];
    const { certFile: subCertFile, keyFile: subKeyFile } = await writePair(folder, first);
    const large = join(folder, 'large.pem');
    await writeFile(large, 'x'.repeat(2 ** 20 + 1));
    const empty = join(folder, 'empty.pem');
    await writeFile(empty, '');
    await using panel = await TestPanel.boot(options);
    const set = (body: object) => panel.call('/panel/api/setting/update', { body });
    for (const [body, problem] of [
      [{ subCertFile }, /subKeyFile is missing/],
      [{ subCertFile, subKeyFile: join(folder, 'none.pem') }, /subKeyFile: .*none.pem cannot be read/],
      [{ subCertFile, subKeyFile: '/dev/zero' }, /subKeyFile: .*zero cannot be read: it is no file/],
      [{ subCertFile: large, subKeyFile }, /subCertFile: .*large.pem cannot be read: it is larger/],
      [{ subCertFile: empty, subKeyFile }, /subCertFile: .*empty.pem cannot be read: it is empty/],
      [{ subCertFile, subKeyFile: empty }, /subKeyFile: .*empty.pem cannot be read: it is empty/],
      [{ subCertFile: subKeyFile, subKeyFile }, /subCertFile: .* is not a valid PEM certificate/],
      [{ subCertFile, subKeyFile: subCertFile }, /subKeyFile: .* is not a PEM private key that matches/],
    ] as const) {
      const { status, body: reply } = await set(body);
      t.is(status, 400);
      t.regex(reply.msg, problem);
    }
    t.is((await set({ subCertFile, subKeyFile })).status, 200);
    t.is((await fetch(`${panel.subscriptionUrl}/s/nobody`)).status, 404, 'until the next start');
    await panel.stop();

    const again = await TestPanel.boot({ ...options, dataDirectory: panel.dataDirectory });
    const port = Number(new URL(again.subscriptionUrl).port);
    const before = await served(port);
    t.regex(before, /^404 /);
    await t.throwsAsync(fetch(`http://127.0.0.1:${port}/s/nobody`));
    // An unusable file changes nothing; the new pair is served to new connections.
    for (const content of ['broken', '']) {
      await writeFile(subCertFile, content);
      clock.tick(61_000);
      t.is(await served(port), before);
    }
    await writePair(folder, second);
    await until(async () => {
      clock.tick(61_000);
      return (await served(port)) !== before;
    }, 'the new certificate is served');
    await again.stop();

    // Without its files it starts, and serves nothing without encryption.
    await rm(subKeyFile);
    const blind = await TestPanel.boot({ ...options, dataDirectory: panel.dataDirectory });
    const blindPort = Number(new URL(blind.subscriptionUrl).port);
    await t.throwsAsync(served(blindPort));
    await t.throwsAsync(fetch(`http://127.0.0.1:${blindPort}/s/nobody`));
    await writePair(folder, second);
    await until(async () => {
      clock.tick(61_000);
      return served(blindPort).then(
        () => true,
        () => false,
      );
    }, 'the certificate is there again');
    await blind.stop();
    t.pass();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
