// What a panel answers to an authority for orders of other panels.
import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { connect } from 'node:tls';
import test from 'ava';
import { freePort } from '../../../test/harness/api.js';
import { until } from '../../../test/harness/until.js';
import type { NameProof, Pair } from '../certificate-pairs.js';
import { ChallengeAnswers } from '../challenge-answers.js';
import type { Challenge } from '../fields.js';
import { SharedProofs } from '../shared-proofs.js';

const proofOf = (challenge: Challenge): NameProof => ({
  challenge,
  name: 'vpn.example.com',
  token: 'the-token',
  keyAuthorization: 'the-token.thumb',
});

async function panel() {
  const [http, tls] = [await freePort(), await freePort()];
  const answers = new ChallengeAnswers({
    listeners: { places: () => [] },
    listener: undefined,
    settings: { read: () => ({ acmeHttpPort: http, acmeTlsPort: tls }) },
  } as never);
  const warnings: string[] = [];
  const orders: Pair[] = [];
  const over = new AbortController();
  const proofs = new SharedProofs({
    log: { warn: (message: string) => warnings.push(message) },
    signal: over.signal,
    pairs: { ofOthers: () => orders },
    answers,
    calls: { library: () => import('acme-client') },
    panels: undefined,
  } as never);
  const text = (): string => {
    let said = '';
    answers.answer(
      { method: 'GET', url: '/.well-known/acme-challenge/the-token' } as IncomingMessage,
      { writeHead: () => undefined, end: (body: string) => (said = body) } as unknown as ServerResponse,
    );
    return said;
  };
  const order = (challenge: Challenge): void => {
    const answer = proofOf(challenge);
    orders.push({ id: 'o', certificateId: 1, panel: 'b', since: 0, answers: [answer], isIssued: false });
    proofs.follow();
  };
  const end = (): void => {
    orders.length = 0;
    proofs.follow();
  };
  return { http, tls, proofs, warnings, text, order, end, over };
}
const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  const opened = await once(server.listen(port), 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return opened;
};

test('an order of another panel is answered by http-01, and the port is closed after it', async (t) => {
  const { http, order, end, warnings } = await panel();
  order('http-01');
  const ask = () =>
    fetch(`http://127.0.0.1:${http}/.well-known/acme-challenge/the-token`).then(
      (reply) => reply.text(),
      () => '',
    );
  await until(async () => (await ask()) === 'the-token.thumb', 'it is answered');
  end();
  await until(() => isFree(http), 'the port is free');
  t.deepEqual(warnings, []);
});

test('by tls-alpn-01 a panel proves the name with a certificate of its own', async (t) => {
  const { tls, order, end } = await panel();
  order('tls-alpn-01');
  const shown = (): Promise<Buffer | undefined> =>
    new Promise((resolve) => {
      const socket = connect(
        {
          port: tls,
          host: '127.0.0.1',
          servername: 'vpn.example.com',
          ALPNProtocols: ['acme-tls/1'],
          rejectUnauthorized: false,
        },
        () => {
          resolve(socket.alpnProtocol === 'acme-tls/1' ? socket.getPeerCertificate().raw : undefined);
          socket.destroy();
        },
      );
      socket.once('error', () => resolve(undefined));
    });
  let raw: Buffer | undefined;
  await until(async () => (raw = await shown()) !== undefined, 'it is answered');
  const certificate = new X509Certificate(raw ?? '');
  t.is(certificate.checkHost('vpn.example.com'), 'vpn.example.com');
  // RFC 8737: id-pe-acmeIdentifier with the SHA-256 of the key authorization.
  t.true(raw?.includes(createHash('sha256').update('the-token.thumb').digest()));
  end();
  await until(() => isFree(tls), 'the port is free');
});

test('where the port is taken, listeners of the panel answer, and the log says so', async (t) => {
  const { http, order, end, warnings, text } = await panel();
  const other = createServer().listen(http);
  await once(other, 'listening');
  order('http-01');
  await until(() => warnings.length === 1, 'it is logged');
  t.is(text(), 'the-token.thumb');
  end();
  await until(() => text() === '', 'not after the order');
  other.close();
});

test('two orders at once share the port, and a panel that stops closes it', async (t) => {
  const { http, order, proofs, over } = await panel();
  order('http-01');
  const ask = (token: string) =>
    fetch(`http://127.0.0.1:${http}/.well-known/acme-challenge/${token}`).then(
      (reply) => reply.text(),
      () => '',
    );
  await until(async () => (await ask('the-token')) !== '', 'it is open');
  const { signal } = new AbortController();
  const own = { ...proofOf('http-01'), token: 'own', keyAuthorization: 'own.thumb' };
  await proofs.of('mine').during('http-01', [own], signal, async () => {
    t.is(await ask('own'), 'own.thumb');
  });
  t.is(await ask('the-token'), 'the-token.thumb');
  over.abort();
  await until(() => isFree(http), 'the port is free');
});
