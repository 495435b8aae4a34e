// One mail over SMTP (RFC 5321): connects, logs in, sends. Says at which of these stages a failure happened.
import { isIP } from 'node:net';
import { isLoopback } from '../../kernel/index.js';

export type Stage = 'connect' | 'auth' | 'send';

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly encryption: 'none' | 'starttls' | 'tls';
  /** Any certificate is taken. */
  readonly skipVerify: boolean;
  readonly username: string;
  readonly password: string;
}
export interface Letter {
  /** address alone, as all of `to` */
  readonly from: string;
  readonly to: readonly string[];
  /** headers and content */
  readonly content: Buffer;
}

/** Why a mail was not sent; the message is for an admin. */
export class SmtpFailure extends Error {
  override readonly name = 'SmtpFailure';
  readonly stage: Stage;
  /** no attempt will do better until an admin changes something */
  readonly isPermanent: boolean;

  constructor(stage: Stage, message: string, isPermanent: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.stage = stage;
    this.isPermanent = isPermanent;
  }
}

const CONNECT_MS = 10_000;
/** Of a server that says nothing any more. */
const SILENCE_MS = 15_000;
/** For all of it, however slowly the server speaks. */
export const WHOLE_MS = 30_000;
const LONGEST_REPLY = 64 * 1024;
const LONGEST_WORDS = 300;

interface Failed extends Error {
  readonly code?: string | undefined;
  readonly response?: string | undefined;
  readonly responseCode?: number | undefined;
}

/** What the server said, on one line. */
const words = ({ response, message }: Failed): string =>
  (response ?? message)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_WORDS);

function sentence(stage: Stage, error: Failed, { host, port, encryption }: MailServer): string {
  const place = `${host}:${port}`;
  const { code = '', responseCode } = error;
  if (stage === 'auth')
    return responseCode === 535
      ? `${place} refuses user name or password (smtpUsername, smtpPassword): ${words(error)}`
      : `${place} did not accept the login: ${words(error)}`;
  if (stage === 'send') return `${place} did not take the mail: ${words(error)}`;
  if (code === 'ETIMEDOUT')
    return `${place} did not answer in time; check smtpHost, smtpPort and the firewall${encryption === 'tls' ? '; a server that waits for STARTTLS is silent too' : ''}`;
  if (/wrong version number|packet length too long/i.test(error.message))
    return `${place} does not speak TLS from the start; set smtpEncryptionType to starttls`;
  if (/certificate|altnames/i.test(error.message))
    return `the certificate of ${place} is not trusted: ${words(error)}; if it is the right server all the same, set smtpSkipVerify`;
  if (code === 'ETLS')
    return `the connection to ${place} could not be encrypted (smtpEncryptionType): ${words(error)}`;
  return `${place} cannot be reached (smtpHost, smtpPort): ${words(error)}`;
}

const asked = <T>(ask: (done: (error: Failed | null | undefined, value?: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => ask((error, value) => (error ? reject(error) : resolve(value as T))));

/** Sends a mail; resolves with the recipients that the server refused. Rejects with SmtpFailure, or with the reason of the signal. */
export async function sendMail(
  server: MailServer,
  { from, to, content }: Letter,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  signal.throwIfAborted();
  const connection = new SMTPConnection({
    host: server.host,
    port: server.port,
    secure: server.encryption === 'tls',
    requireTLS: server.encryption === 'starttls',
    ignoreTLS: server.encryption === 'none',
    tls: {
      rejectUnauthorized: !server.skipVerify,
      ...(isIP(server.host) === 0 && { servername: server.host }),
    },
    // Not the name of this machine, which is nobody's business.
    name: 'localhost',
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    socketCloseTimeout: 0,
    dnsTimeout: CONNECT_MS,
    maxResponseSize: LONGEST_REPLY,
  });
  let stage: Stage = 'connect';
  const late = AbortSignal.any([signal, AbortSignal.timeout(WHOLE_MS)]);
  const broken = new Promise<never>((_, reject) => {
    connection.on('error', reject);
    connection.once('end', () => reject(new Error('it closed the connection')));
    late.addEventListener('abort', () => reject(late.reason as Error), { once: true });
  });
  // Without a step that waits for it, nobody handles the rejection.
  broken.catch(() => undefined);
  const step = <T>(ask: Parameters<typeof asked<T>>[0]): Promise<T> => Promise.race([asked(ask), broken]);
  try {
    await step<void>((done) => connection.connect(done));
    stage = 'auth';
    const { username, password } = server;
    if (username !== '' && password !== '') {
      if (!connection.secure && !isLoopback(server.host))
        throw new SmtpFailure(
          'auth',
          'the password would be sent unencrypted; set smtpEncryptionType to starttls or tls',
          true,
        );
      await step((done) => connection.login({ credentials: { user: username, pass: password } }, done));
    }
    stage = 'send';
    const { rejected } = await step<{ rejected: string[] }>((done) =>
      connection.send({ from, to: [...to] }, content, done),
    );
    connection.quit();
    return rejected;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof SmtpFailure) throw error;
    const failed = late.aborted
      ? Object.assign(new Error(`it took longer than ${WHOLE_MS / 1000} s`), { code: 'ELATE' })
      : (error as Failed);
    const isPermanent = ((failed as Failed).responseCode ?? 0) >= 500;
    throw new SmtpFailure(stage, sentence(stage, failed, server), isPermanent, error);
  } finally {
    connection.close();
  }
}
