// Sends hostile requests to the subscription listener of a panel in a process of its own, over kept-alive sockets.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { PanelProcess } from '../../../test/harness/index.js';
import { PATHS, serveAll } from './edits.js';
import { HostileRequests, type Request } from './hostile-requests.js';

const SOCKETS = 16;
const SLOW_MS = 50;
const TRIES = 4;
const FAILURES = ['request failed', 'plugin fault'];
const HEAD_END = '\r\n\r\n';

export interface HostileOutcome {
  readonly statuses: ReadonlyMap<number, number>;
  /** requests with an answer of 500 and more, or whose connection was closed without one */
  readonly wrong: readonly string[];
  /** requests that take long each time, also alone */
  readonly slow: readonly string[];
  /** MiB of the process, after each tenth of the requests */
  readonly memory: readonly number[];
  /** of the panel's log */
  readonly errors: readonly string[];
}

/** The length of the first answer in these bytes; undefined while it is not complete. */
function lengthOf(bytes: string, isHead: boolean): number | undefined {
  const head = bytes.indexOf(HEAD_END);
  if (head < 0) return undefined;
  const status = Number(bytes.slice(9, 12));
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.slice(0, head))?.[1];
  if (isHead || status === 304 || status === 204) return head + 4;
  if (/\r\ntransfer-encoding: chunked/i.test(bytes.slice(0, head))) {
    const end = bytes.indexOf('0\r\n\r\n', head + 4);
    return end < 0 ? undefined : end + 5;
  }
  const whole = head + 4 + Number(length ?? 0);
  return bytes.length >= whole ? whole : undefined;
}

class Caller {
  readonly #port: number;
  #socket = connect(0).on('error', () => undefined);

  constructor(port: number) {
    this.#port = port;
    this.#socket.destroy();
  }

  /** Resolves with the status; 0 when the connection was closed without an answer. */
  async ask({ text, isHead }: Request): Promise<number> {
    if (this.#socket.destroyed || !this.#socket.writable) {
      this.#socket = connect(this.#port, '127.0.0.1').setEncoding('latin1').setNoDelay();
      this.#socket.on('error', () => undefined);
      await once(this.#socket, 'connect');
    }
    const socket = this.#socket;
    let bytes = '';
    return new Promise((resolve) => {
      const done = (status: number): void => {
        socket.off('data', take).off('close', close);
        if (/\r\nconnection: close/i.test(bytes)) socket.destroy();
        resolve(status);
      };
      const take = (chunk: string): void => {
        bytes += chunk;
        if (lengthOf(bytes, isHead) !== undefined) done(Number(bytes.slice(9, 12)));
      };
      const close = (): void => done(Number(bytes.slice(9, 12)) || 0);
      socket.on('data', take).on('close', close);
      socket.write(text, 'latin1');
    });
  }
  end(): void {
    this.#socket.destroy();
  }
}

/** Clients of every state, all formats, and rules by agent; resolves with their ids. */
async function setUp(panel: PanelProcess): Promise<string[]> {
  await serveAll(panel);
  await panel.get('/panel/api/setting/update', {
    body: {
      subJsonAutoDetect: true,
      subJsonUserAgentRegex: '(?i)v2rayng',
      subAppHAutoDetect: true,
      subResponseRules: [{ agent: 'clash', block: true }],
      subInfoNodeEnable: true,
      trustedProxyCIDRs: '127.0.0.1',
      subMissLimit: 0,
    },
  });
  const inbounds = [
    await panel.addInbound({ remark: 'Сервер 📊' }),
    await panel.addInbound({ streamSettings: { network: 'ws' } }),
  ];
  const states = [{}, { enable: false }, { expiryTime: 1 }, { limitHwid: 1 }, { totalGB: 1000 }];
  const ids = states.map((_, i) => `client-${i}`);
  for (const [i, fields] of states.entries())
    await panel.addClient(`c${i}`, inbounds, { subId: ids[i], ...fields });
  return ids;
}

/** Whether an answer takes long each time; once, another process may have had the CPU. */
async function isSlow(caller: Caller, request: Request): Promise<boolean> {
  for (let i = 0; i < TRIES; i++) {
    const began = performance.now();
    await caller.ask(request);
    if (performance.now() - began < SLOW_MS) return false;
  }
  return true;
}

export async function sendHostile(panel: PanelProcess, count: number, seed: number): Promise<HostileOutcome> {
  const requests = new HostileRequests(seed, {
    prefixes: Object.values(PATHS),
    ids: [...(await setUp(panel)), 'nobody'],
  });
  const statuses = new Map<number, number>();
  const wrong: string[] = [];
  const suspects: Request[] = [];
  const memory: number[] = [];
  let sent = 0;
  const port = Number(new URL(panel.ready.subUrl).port);
  const callers = Array.from({ length: SOCKETS }, () => new Caller(port));
  const work = async (caller: Caller): Promise<void> => {
    while (sent < count) {
      if (++sent % Math.ceil(count / 10) === 0) memory.push(await memoryOf(panel.pid));
      const request = requests.next();
      const began = performance.now();
      const status = await caller.ask(request);
      if (performance.now() - began >= SLOW_MS) suspects.push(request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 0 || status >= 500) wrong.push(`${status} ${shown(request)}`);
    }
  };
  const slow: string[] = [];
  try {
    await Promise.all(callers.map(work));
    const [alone] = callers as [Caller];
    for (const request of suspects) if (await isSlow(alone, request)) slow.push(shown(request));
  } finally {
    for (const caller of callers) caller.end();
  }
  const errors = panel.log.filter(({ msg }) => FAILURES.includes(msg)).map((line) => JSON.stringify(line));
  return { statuses, wrong, slow, memory, errors };
}

const shown = ({ text }: Request): string => JSON.stringify(text.slice(0, 2000));

async function memoryOf(pid: number): Promise<number> {
  const [, pages = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
  return (Number(pages) * 4096) / 2 ** 20;
}
