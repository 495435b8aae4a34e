// A panel that manages nodes, and an admin who edits its clients all the while: what was confirmed to him must be true in the end.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../harness/random.js';
import type { Pair } from './users.js';
import type { Site } from './site.js';
import type { Way } from './way.js';

export interface ListedClient {
  readonly email: string;
  readonly uuid: string;
  readonly enable: boolean;
  readonly totalGB: number;
  readonly comment: string;
  readonly expiryTime: number;
  readonly inboundIds: readonly number[];
}
export interface ListedInbound {
  readonly id: number;
  readonly tag: string;
  readonly port: number;
  readonly enable: boolean;
  readonly remark: string;
  readonly nodeId: number | null;
  readonly up: number;
  readonly down: number;
}
export const clientsOf = (site: Site): Promise<ListedClient[]> => site.panel.get('/panel/api/clients/list');
export const inboundsOf = (site: Site): Promise<ListedInbound[]> =>
  site.panel.get('/panel/api/inbounds/list');

/** A client that is added once, edited, and perhaps deleted; its program knows its UUID from the beginning. */
export interface Slot {
  readonly number: number;
  readonly uuid: string;
  email: string;
  state: 'unused' | 'there' | 'deleted';
  /** as it was confirmed; undefined while a quota may say otherwise */
  enable: boolean | undefined;
  /** an edit failed, and nobody knows whether before or after it was done */
  isUnsure: boolean;
  /** inbounds that it was taken off, or was not on from the beginning */
  readonly wasOff: Set<number>;
  /** how often it was taken off */
  takenOff: number;
  /** its edits, for whoever looks for the one that was lost */
  readonly edits: string[];
}
export interface OwnInbound {
  readonly id: number;
  readonly tag: string;
  readonly port: number;
  readonly node: Way;
  readonly nodeId: number;
}

const MIB = 1024 * 1024;
const KEPT = 6;
const READY_LIMIT_MS = 60_000;

type Step = (slot: Slot) => Promise<void>;
const nameOf = ({ name }: Step): string => `${new Date().toISOString().slice(11, 19)} ${name || 'add'}`;

export class Domain {
  readonly name: string;
  readonly site: Site;
  readonly inbounds: OwnInbound[] = [];
  readonly slots: Slot[];
  readonly #random: Random;
  /** inbounds that nobody uses: they are switched on and off */
  readonly #spare: number[] = [];
  readonly #began: (slot: Slot) => void;
  done = 0;
  failed = 0;
  #isOver = false;
  #running: Promise<void> | undefined;

  constructor(options: {
    readonly name: string;
    readonly site: Site;
    readonly slots: number;
    readonly random: Random;
    /** a client was added */
    readonly began: (slot: Slot) => void;
  }) {
    this.name = options.name;
    this.site = options.site;
    this.#random = options.random;
    this.#began = options.began;
    this.slots = Array.from({ length: options.slots }, (_, number) => ({
      number,
      uuid: randomUUID(),
      email: `${options.name}${number}@soak`,
      state: 'unused',
      enable: true,
      isUnsure: false,
      wasOff: new Set<number>(),
      takenOff: 0,
      edits: [],
    }));
  }

  /** Makes the records of the nodes, and two inbounds on each. */
  async setUp(ways: readonly Way[]): Promise<void> {
    const { panel } = this.site;
    for (const way of ways) {
      const { token } = await way.to.panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
        body: { name: `of ${this.site.name}`, kind: 'node' },
      });
      await panel.get('/panel/api/nodes/add', {
        body: {
          name: way.to.name,
          scheme: 'http',
          address: way.to.place.host,
          port: way.port,
          basePath: '/',
          apiToken: token,
          enable: true,
          allowPrivateAddress: true,
          // What a node runs for its own admin, or has below it, stays his.
          inboundSyncMode: 'selected',
          inboundTags: [],
        },
      });
      const nodes = await panel.get<{ id: number; name: string; status: string }[]>('/panel/api/nodes/list');
      const nodeId = nodes.find(({ name }) => name === way.to.name)?.id ?? 0;
      const add = (remark: string) => panel.addInbound({ nodeId, remark, listen: way.to.place.host });
      const id = await add(`on ${way.to.name}`);
      this.#spare.push(await add(`spare on ${way.to.name}`));
      const { tag = '', port = 0 } = (await inboundsOf(this.site)).find((one) => one.id === id) ?? {};
      this.inbounds.push({ id, tag, port, node: way, nodeId });
    }
  }

  pairs(slotOffset: number, inboundOffset: number): Pair[] {
    return this.slots.flatMap(({ number, uuid }) =>
      this.inbounds.map(({ port, node }, i) => ({
        link: `vless://${uuid}@${node.to.place.host}:${port}?type=tcp&security=none&encryption=none#soak`,
        slot: slotOffset + number,
        inbound: inboundOffset + i,
      })),
    );
  }

  /** One edit after another, with a pause between. */
  begin(pauseMs: number): void {
    this.#running = (async () => {
      while (!this.#isOver) {
        await this.#edit();
        await sleep(pauseMs * (0.5 + this.#random.below(100) / 100));
      }
    })();
  }

  /** Ends the edits, and finds out what came of those that failed. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    for (const deadline = Date.now() + READY_LIMIT_MS; this.slots.some(({ isUnsure }) => isUnsure); ) {
      await this.#find().catch(() => undefined);
      if (Date.now() > deadline) throw new Error(`${this.site.name} does not say what it has`);
      await sleep(100);
    }
  }

  async add(slot: Slot): Promise<void> {
    const all = this.inbounds.map(({ id }) => id);
    const inboundIds = this.#random.below(4) === 0 ? all.slice(0, 1) : all;
    for (const id of all) if (!inboundIds.includes(id)) slot.wasOff.add(id);
    slot.state = 'there';
    this.#began(slot);
    await this.site.panel.addClient(slot.email, inboundIds, { uuid: slot.uuid });
  }

  async #edit(): Promise<void> {
    const { below, pick } = this.#random;
    const there = this.slots.filter(({ state, isUnsure }) => state === 'there' && !isUnsure);
    const unused = this.slots.find(({ state }) => state === 'unused');
    const isAdding = unused !== undefined && (there.length < KEPT || below(6) === 0);
    const slot = isAdding ? unused : pick(there);
    const steps: readonly Step[] = [
      ...(there.length > KEPT / 2 ? [this.#delete, this.#delete] : []),
      this.#rename,
      this.#rename,
      this.#disable,
      this.#enable,
      this.#enable,
      this.#quota,
      this.#quota,
      this.#comment,
      this.#detach,
      this.#detach,
      this.#attach,
      this.#toggleSpare,
    ];
    const step = isAdding ? (one: Slot) => this.add(one) : pick(steps);
    try {
      if (this.slots.some(({ isUnsure }) => isUnsure)) await this.#find();
      if (!slot || !step) return;
      await step.call(this, slot);
      this.done += 1;
      slot.edits.push(nameOf(step));
    } catch (error) {
      this.failed += 1;
      if (!slot) return;
      slot.isUnsure = true;
      slot.edits.push(`${step ? nameOf(step) : ''} failed (${(error as Error).message.slice(0, 60)})`);
    }
  }

  #call(path: string, body: unknown): Promise<unknown> {
    return this.site.panel.get(`/panel/api/clients/${path}`, { body });
  }
  async #update(slot: Slot, fields: Record<string, unknown>): Promise<void> {
    await this.#call(`update/${slot.email}`, fields);
  }
  async #delete(slot: Slot): Promise<void> {
    slot.isUnsure = true;
    await this.#call(`del/${slot.email}`, {});
    Object.assign(slot, { state: 'deleted', isUnsure: false });
  }
  async #rename(slot: Slot): Promise<void> {
    const [first = ''] = slot.email.split('-');
    const email = `${first.replace('@soak', '')}-${this.#random.below(1_000_000)}@soak`;
    await this.#update(slot, { email });
    slot.email = email;
  }
  /** Without a quota first: where a quota has disabled it, `enable: false` says nothing new, and the next quota enables it. */
  async #disable(slot: Slot): Promise<void> {
    if (slot.enable !== false) slot.enable = undefined;
    await this.#update(slot, { totalGB: 0 });
    await this.#update(slot, { enable: false });
    slot.enable = false;
  }
  /** Without a quota. */
  async #enable(slot: Slot): Promise<void> {
    slot.enable = undefined;
    await this.#update(slot, { enable: true, totalGB: 0 });
    slot.enable = true;
  }
  /** One that runs out soon. */
  async #quota(slot: Slot): Promise<void> {
    if (slot.enable !== false) slot.enable = undefined;
    const { up, down } = await this.site.panel.get<{ up: number; down: number }>(
      `/panel/api/clients/traffic/${slot.email}`,
    );
    await this.#update(slot, { totalGB: up + down + MIB / 4 + this.#random.below(MIB / 4) });
  }
  async #comment(slot: Slot): Promise<void> {
    await this.#update(slot, { comment: `edit ${this.done}` });
  }
  async #detach(slot: Slot): Promise<void> {
    const [first] = this.inbounds;
    const off = this.#random.pick(this.inbounds.filter((one) => one !== first));
    if (!off) return;
    slot.wasOff.add(off.id);
    slot.takenOff += 1;
    await this.#call(`${slot.email}/detach`, { inboundIds: [off.id] });
  }
  async #attach(slot: Slot): Promise<void> {
    await this.#call(`${slot.email}/attach`, { inboundIds: this.inbounds.map(({ id }) => id) });
  }
  async #toggleSpare(): Promise<void> {
    const id = this.#random.pick(this.#spare);
    await this.site.panel.get(`/panel/api/inbounds/update/${id}`, {
      body: { enable: this.#random.below(2) === 0, remark: `spare ${this.done}` },
    });
  }

  /** What a failed edit has left, by the UUIDs. */
  async #find(): Promise<void> {
    const byUuid = new Map((await clientsOf(this.site)).map((client) => [client.uuid, client]));
    for (const slot of this.slots.filter(({ isUnsure }) => isUnsure)) {
      const found = byUuid.get(slot.uuid);
      if (found) Object.assign(slot, { state: 'there', email: found.email });
      // It was being added, or deleted; as for us, that is over.
      else slot.state = 'deleted';
      if (found && slot.enable === undefined && found.totalGB === 0) slot.enable = found.enable;
      slot.isUnsure = false;
    }
  }
}
