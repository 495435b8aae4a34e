// Callers of several panels through a balancer: edits, fetches of subscriptions, and sockets that connect again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { Listener } from '../../realtime/test/listener.js';
import type { Balancer } from './balancer.js';

interface Person {
  readonly subId: string;
  readonly uuid: string;
}

export class Load {
  readonly failures: string[] = [];
  /** what was acknowledged, in order */
  readonly comments: string[] = [];
  fetches = 0;
  /** edits that were refused because of another one of the same moment, and repeated */
  busy = 0;
  /** codes and reasons with which sockets were closed */
  readonly closes: (number | string)[] = [];
  readonly #balancer: Balancer;
  readonly #session: { readonly cookie: string; readonly csrf: string };
  readonly #person: Person;
  #isOver = false;
  #running: Promise<unknown>[] = [];
  readonly #sockets = new Set<Listener>();

  constructor(
    balancer: Balancer,
    session: { readonly cookie: string; readonly csrf: string },
    person: Person,
  ) {
    this.#balancer = balancer;
    this.#session = { cookie: session.cookie, csrf: session.csrf };
    this.#person = person;
  }

  start(): void {
    this.#running = [
      this.#repeat('edit', (panel) => this.#edit(panel)),
      this.#repeat('fetch', (panel) => this.#fetch(panel)),
      this.#repeat('fetch', (panel) => this.#fetch(panel)),
      this.#repeat('list', (panel) => this.#list(panel)),
      this.#keepSocket((panel) => Listener.plain(panel, { cookie: this.#session.cookie })),
      this.#keepSocket((panel) => Listener.io(panel, { cookie: this.#session.cookie })),
    ];
  }

  async #repeat(what: string, call: (panel: PanelProcess) => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const panel = await this.#balancer.next().catch(() => undefined);
      // The balancer is closed.
      if (!panel) return;
      await call(panel).catch((error: unknown) =>
        this.failures.push(
          `${what} at ${panel.url}: ${String(error)} ${String((error as Error).cause ?? '')}`,
        ),
      );
      await sleep(15);
    }
  }

  /** Without a second attempt: a balancer does not send an edit twice. */
  async #call(panel: PanelProcess, path: string, body?: unknown): Promise<string> {
    const { cookie, csrf } = this.#session;
    const answer = await fetch(panel.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie, 'x-csrf-token': csrf, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
    return text;
  }

  async #edit(panel: PanelProcess): Promise<void> {
    const comment = `edit ${this.comments.length}`;
    const edit = (at: PanelProcess) =>
      this.#call(at, '/panel/api/clients/update/ada', { ...this.#person, email: 'ada', comment });
    await edit(panel).catch(async (error: unknown) => {
      // Both panels wrote clients in the same moment, with or without a restart: nothing was saved, and Retry-After says 1.
      if (!String(error).includes('KERNEL_DATABASE_BUSY')) throw error;
      this.busy++;
      await sleep(1_000);
      await edit(await this.#balancer.next());
    });
    this.comments.push(comment);
  }

  async #fetch(panel: PanelProcess): Promise<void> {
    const answer = await fetch(`${panel.ready.subUrl}${this.#person.subId}`);
    const text = Buffer.from(await answer.text(), 'base64').toString();
    if (answer.status !== 200 || !text.includes(this.#person.uuid))
      throw new Error(`${answer.status} ${text}`);
    this.fetches++;
  }

  async #list(panel: PanelProcess): Promise<void> {
    await this.#call(panel, '/panel/api/inbounds/list');
  }

  async #keepSocket(connect: (panel: PanelProcess) => Listener): Promise<void> {
    while (!this.#isOver) {
      const panel = await this.#balancer.next().catch(() => undefined);
      if (!panel) return;
      const socket = connect(panel);
      this.#sockets.add(socket);
      await socket
        .first('snapshot')
        .catch((error: unknown) => this.failures.push(`socket: ${String(error)}`));
      while (!this.#isOver && socket.ended === undefined && socket.refused === '') await sleep(20);
      if (socket.ended !== undefined) this.closes.push(socket.ended);
      this.#sockets.delete(socket);
      if (this.#isOver) socket.close();
    }
  }

  /** Ends the balancer as well: nobody must wait for a panel that never comes. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#balancer.close();
    await Promise.all(this.#running);
  }
}
