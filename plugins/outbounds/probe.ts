// Fetches an address through one outbound of a test core, and measures it. Any reply of the server is a success.
import { failureText, type Reached, reach, since, type Target as Server } from './through-core.js';

/** Figures of a fetch, in ms. */
export interface Probed {
  readonly success: boolean;
  readonly delay: number;
  readonly error?: string;
  readonly httpStatus?: number;
  /** until the core took the connection */
  readonly connectMs?: number;
  /** until TLS to the server was established */
  readonly tlsMs?: number;
  /** from the request to the first byte of the reply */
  readonly ttfbMs?: number;
}
export interface Target extends Omit<Server, 'limit'> {
  /** whether a second request on the same connection gives the delay */
  readonly warm: boolean;
  /** ms for all of it; less in tests */
  readonly limit?: number;
}

const LIMIT_MS = 10_000;

/** Never rejects. */
export async function probe(
  { warm, limit = LIMIT_MS, ...server }: Target,
  signal: AbortSignal,
): Promise<Probed> {
  const start = performance.now();
  try {
    return await reach({ ...server, limit }, signal, async (reached, inTime) => {
      const { connectMs, tlsMs } = reached;
      const { status, ttfbMs, body } = await inTime(reached.ask());
      const cold = since(start);
      const figures = {
        success: true,
        httpStatus: status,
        connectMs,
        ...(tlsMs !== undefined && { tlsMs }),
        ttfbMs,
      };
      if (!warm) return { ...figures, delay: cold };
      const second = await inTime(again(reached, body)).catch(() => undefined);
      return { ...figures, delay: second ?? cold };
    });
  } catch (error) {
    return { success: false, delay: 0, error: failureText(error) };
  }
}

/** A server that closes the connection after its reply, or sends more than is read, is measured by its first reply. */
async function again(reached: Reached, first: Promise<string | undefined>): Promise<number | undefined> {
  if ((await first) === undefined || !reached.isOpen) return undefined;
  return (await reached.ask()).ttfbMs;
}
