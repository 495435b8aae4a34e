// Downloads a file over HTTP into memory, with limits on its size and on silence.
import { messageOf } from '../../../kernel/index.js';

export interface Timeouts {
  /** until a server answers */
  readonly answerMs: number;
  /** between two chunks of its answer */
  readonly silenceMs: number;
  /** for all of it */
  readonly wholeMs: number;
  /** between two progress messages */
  readonly reportMs: number;
}
export const DEFAULT_TIMEOUTS: Timeouts = {
  answerMs: 8_000,
  silenceMs: 20_000,
  wholeMs: 15 * 60_000,
  reportMs: 3_000,
};

export interface FetchOptions {
  readonly limit: number;
  readonly timeouts: Timeouts;
  readonly onProgress?: (bytes: number, of: number | undefined) => void;
}

const seconds = (ms: number): string => `${ms / 1000} s`;

/** Aborts `controller` with a message unless it is restarted or stopped in time. */
class Timeout {
  readonly #controller: AbortController;
  #timer: NodeJS.Timeout | undefined;

  constructor(controller: AbortController) {
    this.#controller = controller;
  }
  restart(ms: number, sentence: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(new Error(sentence)), ms);
  }
  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** The error of fetch is "fetch failed"; its cause has the reason. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (!(cause instanceof Error)) return messageOf(error);
  const [first] = (cause as AggregateError).errors ?? [];
  return (
    (cause.message ||
      (first instanceof Error ? first.message : '') ||
      (cause as NodeJS.ErrnoException).code) ??
    messageOf(error)
  );
}

async function read(
  response: Response,
  { limit, timeouts: { silenceMs }, onProgress }: FetchOptions,
  silence: Timeout,
): Promise<Buffer> {
  const announced = response.headers.get('content-length');
  const length = announced === null ? undefined : Number(announced);
  if (length !== undefined && length > limit) throw new Error(`it is larger than ${limit} bytes`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    silence.restart(silenceMs, `no data for ${seconds(silenceMs)}`);
    bytes += chunk.length;
    if (bytes > limit) throw new Error(`it is larger than ${limit} bytes`);
    chunks.push(chunk);
    onProgress?.(bytes, length);
  }
  return Buffer.concat(chunks);
}

/** Rejects with an error that names the address and the problem. */
export async function fetchFile(url: string, options: FetchOptions): Promise<Buffer> {
  const { answerMs, wholeMs, silenceMs } = options.timeouts;
  const controller = new AbortController();
  const [silence, whole] = [new Timeout(controller), new Timeout(controller)];
  whole.restart(wholeMs, `it took longer than ${seconds(wholeMs)}`);
  silence.restart(answerMs, `no answer within ${seconds(answerMs)}`);
  try {
    const response = await fetch(url, { signal: controller.signal, headers: { 'user-agent': 'weir' } });
    // Releases redirect to a file store; one without TLS could replace file and digest.
    if (url.startsWith('https:') && !response.url.startsWith('https:'))
      throw new Error(`it was redirected to ${response.url}, which is not HTTPS`);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    silence.restart(silenceMs, `no data for ${seconds(silenceMs)}`);
    return await read(response, options, silence);
  } catch (error) {
    controller.abort();
    throw new Error(
      `${url}: ${reasonOf(controller.signal.reason instanceof Error && controller.signal.reason.name === 'Error' ? controller.signal.reason : error)}`,
      { cause: error },
    );
  } finally {
    silence.stop();
    whole.stop();
  }
}
