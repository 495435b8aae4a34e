// Calls to the HTTP API of a program on this machine. It may hang, lie or send without end, so time and size have limits.
import { request } from 'node:http';
import type { ProgramReply, SidecarInstance } from './contract.js';

export const CALL_MS = 5_000;
/** About 50 ms of parsing. */
export const LARGEST_REPLY = 8 * 1024 * 1024;

type CallOptions = NonNullable<Parameters<SidecarInstance['call']>[2]>;

/** Rejects with the reason, for a person. */
export function callProgram(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: CallOptions,
  signal: AbortSignal,
): Promise<ProgramReply> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(
        limit.aborted && !signal.aborted
          ? new Error(`its API gave no answer to ${method} ${path} within ${CALL_MS / 1000} s`)
          : new Error(`its API cannot be called: ${error.message}`),
      );
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        signal: limit,
        // A connection of its own: one that the program closes while idle would fail the next call.
        agent: false,
        headers: {
          ...headers,
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(text)),
          }),
        },
      },
      (reply) => {
        const chunks: Buffer[] = [];
        let size = 0;
        reply.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size <= LARGEST_REPLY) return void chunks.push(chunk);
          call.destroy();
          reject(new Error(`its API answers ${method} ${path} with more than ${LARGEST_REPLY} bytes`));
        });
        reply.on('error', fail);
        reply.on('end', () =>
          resolve({ status: reply.statusCode ?? 0, body: jsonOf(Buffer.concat(chunks)) }),
        );
      },
    );
    call.on('error', fail);
    call.end(text);
  });
}

function jsonOf(body: Buffer): unknown {
  try {
    return body.length === 0 ? undefined : JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
