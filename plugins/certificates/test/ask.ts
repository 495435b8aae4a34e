import { type Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { ADMIN } from '../../../test/harness/api.js';

interface Asked {
  readonly port: number;
  readonly path: string;
  readonly agent?: Agent;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}
interface Answered {
  readonly status: number;
  /** of the certificate */
  readonly serial: string;
  readonly cookies: readonly string[];
  readonly obj: never;
  readonly msg: string;
}
const LIMIT_MS = 60_000;
/** One call over TLS, whatever the certificate. */
export const ask = ({ port, path, agent, headers, body }: Asked): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: body ? 'POST' : 'GET',
        rejectUnauthorized: false,
        agent: agent ?? false,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      },
      (answer) => {
        const serial = (answer.socket as TLSSocket).getPeerCertificate().serialNumber.toLowerCase();
        let text = '';
        // Of a reply that is cut off there is no end.
        answer.on('error', reject);
        answer.on('data', (chunk: Buffer) => (text += String(chunk)));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            serial,
            cookies: answer.headers['set-cookie'] ?? [],
            ...(text.startsWith('{')
              ? (JSON.parse(text) as { obj: never; msg: string })
              : { obj: undefined as never, msg: text }),
          }),
        );
      },
    );
    sent.setTimeout(LIMIT_MS, () => sent.destroy(new Error(`nothing comes for ${path}`)));
    sent.on('error', reject).end(body && JSON.stringify(body));
  });

/** Logs in; resolves with the headers of a call that changes something. */
export async function login(port: number): Promise<{ cookie: string; 'x-csrf-token': string }> {
  const { cookies } = await ask({ port, path: '/login', body: ADMIN });
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ');
  const { obj } = await ask({ port, path: '/csrf-token', headers: { cookie } });
  return { cookie, 'x-csrf-token': obj };
}
