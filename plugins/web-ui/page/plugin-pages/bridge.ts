// The bridge between the page and the frame of a plugin: what the frame may ask for, how often, and what it gets.
import { isAllowed } from '../../call-pattern.js';
import { isRecord } from '../forms/schema.js';

export interface Context {
  readonly theme: 'light' | 'dark';
  readonly language: string;
  readonly dir: 'ltr' | 'rtl';
  readonly colors: Readonly<Record<string, string>>;
}
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}
/** The part of a MessagePort that the bridge uses. */
export interface Port {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}
export interface BridgeOptions {
  /** the calls that the page of the plugin has declared */
  readonly api: readonly string[];
  /** the window of the frame, now */
  readonly frame: () => unknown;
  readonly context: () => Context;
  /** Sends a call that was checked; `signal` aborts when nobody waits for it any more. `body` is a text of the frame. */
  readonly send: (
    method: string,
    path: string,
    body: string | undefined,
    signal: AbortSignal,
  ) => Promise<Answered>;
  readonly now: () => number;
  readonly onHeight: (pixels: number) => void;
  readonly onTitle: (text: string) => void;
  /** The frame sends too much: it must be taken out, or it stalls the page. */
  readonly onFlood: () => void;
}

const MOST_AT_ONCE = 4;
const MOST_BODY = 256 * 1024;
const MOST_TITLE = 100;
const MOST_HEIGHT = 4000;
/** how many messages in a second end the bridge */
const FLOOD = 100;
const SECOND = 1000;

export class Bridge {
  readonly #options: BridgeOptions;
  #port: Port | undefined;
  /** of the document that has the port */
  #calls = new AbortController();
  #open = 0;
  #since = 0;
  #received = 0;
  #isEnded = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** A message to the window of the page. Only the frame itself, which has no origin, is heard. */
  readonly hear = ({
    source,
    origin,
    data,
    ports,
  }: Pick<MessageEvent, 'source' | 'origin' | 'data' | 'ports'>) => {
    if (this.#isEnded || source === null || source !== this.#options.frame() || origin !== 'null') return;
    if (this.#floods() || !isRecord(data) || data['kind'] !== 'hello') return;
    const [port] = ports;
    if (port) this.connect(port);
  };

  /** Each document in the frame has its own port; an earlier one hears nothing more. */
  connect(port: Port): void {
    this.#drop();
    this.#port = port;
    this.#calls = new AbortController();
    port.onmessage = ({ data }) => {
      if (!this.#isEnded && this.#port === port && !this.#floods()) this.#take(port, data);
    };
    this.tell();
  }

  /** Sends the theme and the language again. */
  tell(): void {
    this.#port?.postMessage({ kind: 'context', ...this.#options.context() });
  }

  end(): void {
    this.#isEnded = true;
    this.#drop();
  }

  /** What was asked through the port is not for the next document: a call may wait for a login for hours. */
  #drop(): void {
    this.#port?.close();
    this.#port = undefined;
    this.#calls.abort();
  }

  #floods(): boolean {
    const now = this.#options.now();
    if (now - this.#since >= SECOND) {
      this.#since = now;
      this.#received = 0;
    }
    if (++this.#received <= FLOOD) return false;
    this.end();
    this.#options.onFlood();
    return true;
  }

  #take(port: Port, data: unknown): void {
    if (!isRecord(data)) return;
    const { kind, pixels, text } = data;
    if (kind === 'height' && typeof pixels === 'number' && Number.isFinite(pixels))
      this.#options.onHeight(Math.min(Math.max(Math.ceil(pixels), 0), MOST_HEIGHT));
    else if (kind === 'title' && typeof text === 'string') this.#options.onTitle(text.slice(0, MOST_TITLE));
    else if (kind === 'call') void this.#call(port, data);
  }

  async #call(port: Port, { id, method, path, body }: Record<string, unknown>): Promise<void> {
    if (typeof id !== 'number') return;
    const answer = (content: object) => {
      // Another document may be in the frame by now.
      if (this.#port === port) port.postMessage({ kind: 'answer', id, ...content });
    };
    const refuse = (status: number, error: string) => answer({ status, error });
    if (typeof method !== 'string' || typeof path !== 'string' || !isAllowed(this.#options.api, method, path))
      return refuse(403, 'the page of the plugin has not declared this call');
    // Not made into JSON here: that of a list without items, or of parts that are shared, would stall the page.
    if (body !== undefined && typeof body !== 'string') return refuse(400, 'the body is not valid JSON text');
    if (body !== undefined && (method === 'GET' || body.length > MOST_BODY))
      return refuse(400, method === 'GET' ? 'GET has no body' : 'the body is too long');
    if (this.#open >= MOST_AT_ONCE) return refuse(429, `at most ${MOST_AT_ONCE} calls at once`);
    const { signal } = this.#calls;
    this.#open++;
    try {
      const { status, body: answered } = await this.#options.send(method, path, body, signal);
      answer(
        status < 400
          ? { status, body: answered }
          : { status, error: isRecord(answered) ? String(answered['msg'] ?? '') : '' },
      );
    } catch (error) {
      refuse(0, error instanceof Error ? error.message : 'the call failed');
    } finally {
      this.#open--;
    }
  }
}
