// A panel that lives through a month: traffic every hour, an admin at work every day, a backup every night.
import { definePlugin, type Plugin, tap } from '../../kernel/index.js';
import { alarmChanged } from '../../plugins/alarms/contract.js';
import {
  clientDepleted,
  clientRenewed,
  clientTrafficReset,
  trafficReset,
} from '../../plugins/traffic/contract.js';
import { FakeClock, FakeEngine, TestPanel } from '../harness/index.js';
import type { PanelOptions } from '../harness/panel.js';
import { random } from '../harness/random.js';
import { account, GB } from './accounts.js';
import { type Bytes, Ledger, sum } from './ledger.js';

/** The zone has its summer time from the 29th. */
export const ZONE = 'Europe/Berlin';
export const START = Date.UTC(2026, 2, 1, 0, 30);
const HOUR = 3_600_000;
const POLL = 5000;
const CLIENTS = 1000;
const CLIENTS_API = '/panel/api/clients';
const POST = { method: 'POST' };

const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone: ZONE, dateStyle: 'short' });

const hourIn = new Intl.DateTimeFormat('en-GB', { timeZone: ZONE, hour: '2-digit' });

export interface Client {
  readonly id: number;
  readonly email: string;
  readonly totalGB: number;
  readonly inboundIds: readonly number[];
}

/** The first of the month: three inbounds, a thousand clients. */
export async function openMonth(options: PanelOptions): Promise<Month> {
  const month = new Month();
  await month.boot(options);
  await month.open();
  return month;
}

export class Month {
  readonly clock = new FakeClock(START);
  readonly engine = new FakeEngine();
  readonly ledger = new Ledger();
  readonly clients = new Map<number, Client>();
  readonly inboundIds: number[] = [];
  /** what the admin did, by area and kind of the audit */
  readonly edits = new Map<string, number>();
  readonly events = { renewed: 0, depleted: 0, resets: 0, alarms: [] as string[] };
  readonly #random = random(20_260_301);
  readonly #disabled: string[] = [];
  #panel: TestPanel | undefined;
  #numbers = CLIENTS;

  get panel(): TestPanel {
    if (!this.#panel) throw new Error('the panel has not started');
    return this.#panel;
  }
  dayOf(time: number): string {
    return dayIn.format(time);
  }
  /** of the zone, from 0 */
  get hour(): number {
    return Number(hourIn.format(this.clock.now()));
  }
  get today(): string {
    return this.dayOf(this.clock.now());
  }

  #did(what: string, times = 1): void {
    this.edits.set(what, (this.edits.get(what) ?? 0) + times);
  }

  /** Notes what the panel does by itself; what a client used is counted from zero then. */
  #listener(): Plugin {
    const reset = (ids: readonly number[]): void => {
      this.events.resets += ids.length;
      for (const id of ids) this.ledger.reset(id);
    };
    return definePlugin({
      name: 'listener',
      version: '1.0.0',
      api: 1,
      about: 'Notes what happens.',
      taps: () => [
        tap(clientRenewed, ({ clients }) => {
          this.events.renewed += clients.length;
          for (const { id } of clients) this.ledger.reset(id);
        }),
        tap(clientTrafficReset, ({ clients }) => reset(clients.map(({ id }) => id))),
        tap(trafficReset, ({ inboundIds }) => {
          for (const id of inboundIds) this.ledger.inbounds.delete(id);
          const isIn = (one: Client): boolean => one.inboundIds.some((id) => inboundIds.includes(id));
          reset([...this.clients.values()].flatMap((one) => (isIn(one) ? one.id : [])));
        }),
        tap(clientDepleted, ({ clients }) => void (this.events.depleted += clients.length)),
        tap(
          alarmChanged,
          ({ alarm }) => void this.events.alarms.push(`${alarm.name} ${alarm.isActive ? 'on' : 'off'}`),
        ),
      ],
    });
  }

  async boot(options: PanelOptions): Promise<void> {
    this.#panel = await TestPanel.boot({
      clock: this.clock,
      ...options,
      plugins: [this.engine.plugin, this.#listener(), ...(options.plugins ?? [])],
    });
    await this.settle();
  }

  /** Stops the panel for two minutes, and starts what follows it on the same data. */
  async upgrade(options: PanelOptions): Promise<void> {
    const { dataDirectory } = this.panel;
    await this.panel.stop();
    this.clock.leap(120_000);
    await this.boot({ ...options, dataDirectory });
  }

  settle(): Promise<void> {
    return this.panel.kernel.settled();
  }

  /** Lets the panel raise an alarm of the disk above this many percent; 0 for none. */
  async alarm(alarmDisk: number): Promise<void> {
    const body = { alarmDisk, alarmCpu: 0, alarmMemory: 0 };
    await this.panel.get('/panel/api/setting/update', { body });
    await this.rest();
  }

  /** A backup each night, which only the holder of another key can open. */
  async backUp(recipient: string): Promise<void> {
    const body = { backupSchedule: '04:15', backupRecipients: [recipient] };
    await this.panel.get('/panel/api/setting/update', { body });
  }

  /** Three inbounds, the last of which counts from zero in the middle of the month, and the accounts. */
  async open(): Promise<void> {
    await this.panel.get('/panel/api/setting/update', {
      body: { timeLocation: ZONE, sessionMaxAge: 525_600, sessionMaxLifetime: 525_600 },
    });
    for (const fields of [{}, {}, { trafficReset: 'monthly', trafficResetDay: 15 }])
      this.inboundIds.push(await this.panel.addInbound(fields));
    this.#did('inbound added', 3);
    const numbers = Array.from({ length: CLIENTS }, (_, i) => i);
    const { created } = await this.panel.get<{ created: number }>(`${CLIENTS_API}/bulkCreate`, {
      body: numbers.map((number) => ({
        client: account(number, START),
        inboundIds: [this.#inboundOf(number)],
      })),
    });
    this.#did('client added', created);
    await this.#know();
  }

  #inboundOf(number: number): number {
    return this.inboundIds[Math.floor(number / 10) % 3] ?? 0;
  }

  /** Asks the panel for the ids of clients. */
  async #know(): Promise<void> {
    const listed = await this.panel.get<Client[]>(`${CLIENTS_API}/list`);
    for (const { id, email, totalGB, inboundIds } of listed)
      this.clients.set(id, { id, email, totalGB, inboundIds });
  }

  /** Each client that the core lets in moves bytes in one of seven hours. Resolves after the poll. */
  async traffic(): Promise<void> {
    for (const { id, inboundIds } of this.clients.values())
      for (const inboundId of inboundIds) {
        if (!this.engine.users.has(`i${inboundId}.c${id}`) || this.#random.below(7) > 0) continue;
        const bytes = { up: this.#random.below(2 ** 26), down: this.#random.below(2 ** 29) };
        this.engine.move(inboundId, id, bytes.up, bytes.down);
        this.ledger.add(id, inboundId, this.today, bytes);
      }
    this.clock.tick(POLL);
    await this.settle();
  }

  /** Clients that have used up their bytes and that the core still lets in. */
  overTheirLimit(): string[] {
    return [...this.clients.values()].flatMap(({ id, email, totalGB, inboundIds }) => {
      const { up, down } = this.ledger.current.get(id) ?? { up: 0, down: 0 };
      const isIn = this.engine.users.has(`i${inboundIds[0]}.c${id}`);
      return totalGB > 0 && up + down >= totalGB && isIn ? [email] : [];
    });
  }

  /** Bytes of all clients since their counters last began at zero. */
  get used(): Bytes {
    return sum([...this.clients.keys()].map((id) => this.ledger.current.get(id) ?? { up: 0, down: 0 }));
  }

  /** To the next hour. */
  async rest(): Promise<void> {
    this.clock.leap(HOUR - POLL);
    await this.settle();
  }

  /** What an admin does in a day, by the API. */
  async administer(): Promise<void> {
    const { panel } = this;
    for (let i = 0; i < 2; i++) {
      const number = this.#numbers++;
      await panel.addClient(account(number, START).email, [this.#inboundOf(number)], { totalGB: GB });
      this.#did('client added');
    }
    const [leaving, off, renamed, refreshed] = this.#someClients(4);
    await panel.get(`${CLIENTS_API}/del/${leaving?.email}`, POST);
    this.#did('client deleted');
    this.clients.delete(leaving?.id ?? 0);
    this.ledger.forget(leaving?.id ?? 0);
    for (const email of this.#disabled.splice(0)) {
      if (![...this.clients.values()].some((one) => one.email === email)) continue;
      await panel.get(`${CLIENTS_API}/update/${email}`, { body: { enable: true } });
      this.#did('client updated');
    }
    const { enable } = await panel.get<{ enable: boolean }>(`${CLIENTS_API}/get/${off?.email}`);
    if (enable) {
      await panel.get(`${CLIENTS_API}/update/${off?.email}`, { body: { enable: false } });
      this.#did('client updated');
      this.#disabled.push(off?.email ?? '');
    }
    await panel.get(`${CLIENTS_API}/update/${renamed?.email}`, {
      body: { comment: `seen on ${this.today}` },
    });
    this.#did('client updated');
    await panel.get(`${CLIENTS_API}/resetTraffic/${refreshed?.email}`, POST);
    if (this.ledger.current.has(refreshed?.id ?? 0)) this.#did('client updated');
    this.ledger.reset(refreshed?.id ?? 0);
    await this.#know();
  }

  #someClients(count: number): Client[] {
    const all = [...this.clients.values()];
    const chosen = new Set<Client>();
    while (chosen.size < count) {
      const one = this.#random.pick(all);
      if (one) chosen.add(one);
    }
    return [...chosen];
  }
}
