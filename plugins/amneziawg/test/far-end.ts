// The other end of a tunnel: amneziawg-go in the namespace of a client, set up from the link that the panel gives.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { ControlSocket, socketOf } from '../control-socket.js';
import { type DeviceState, readDevice } from '../device-state.js';
import { amneziawgGo } from './needs.js';
import type { World } from './world.js';

/** The values of a config file, by section and key in small letters. */
export function configOf(link: string): Map<string, string> {
  const text = Buffer.from(link.slice('vpn://'.length), 'base64url').toString();
  let section = '';
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (name) section = name.toLowerCase();
    const [, key = '', value = ''] = /^(\w+) = (.*)$/.exec(line) ?? [];
    if (key) values.set(`${section}.${key.toLowerCase()}`, value);
  }
  return values;
}

export async function linkOf(panel: PanelProcess, email: string): Promise<string> {
  const links = await panel.get<string[]>(`/panel/api/clients/links/${encodeURIComponent(email)}`);
  const link = links.find((one) => one.startsWith('vpn://'));
  if (!link) throw new Error(`${email} has no link of AmneziaWG: ${links.join(' ')}`);
  return link;
}

const hex = (key: string): string => Buffer.from(key, 'base64').toString('hex');
const DISGUISE = [
  'jc',
  'jmin',
  'jmax',
  's1',
  's2',
  's3',
  's4',
  'h1',
  'h2',
  'h3',
  'h4',
  'i1',
  'i2',
  'i3',
  'i4',
  'i5',
];

let ends = 0;

export class FarEnd {
  readonly #world: World;
  readonly where: string;
  readonly device: string;
  readonly config: Map<string, string>;
  readonly #control: ControlSocket;
  readonly child: ChildProcess;

  private constructor(world: World, where: string, device: string, link: string, child: ChildProcess) {
    this.#world = world;
    this.where = where;
    this.device = device;
    this.config = configOf(link);
    this.#control = new ControlSocket(socketOf(device));
    this.child = child;
  }

  /** Starts the program, and sends all traffic of the namespace through it. */
  static async start(world: World, where: string, link: string): Promise<FarEnd> {
    const device = `w${process.pid}e${ends++}`;
    const child = world.start(where, (await amneziawgGo()) ?? '', ['-f', device]);
    const end = new FarEnd(world, where, device, link, child);
    await end.#setUp();
    return end;
  }

  #value(key: string): string {
    return this.config.get(key) ?? '';
  }

  async #setUp(): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (!(await this.state().catch(() => undefined))) {
      if (Date.now() > deadline) throw new Error('the program of the client does not start');
      await sleep(20);
    }
    const disguise = DISGUISE.filter((name) => this.#value(`interface.${name}`) !== '');
    await this.#control.set([
      ...disguise.map((name) => `${name}=${this.#value(`interface.${name}`)}`),
      `private_key=${hex(this.#value('interface.privatekey'))}`,
      `public_key=${hex(this.#value('peer.publickey'))}`,
      ...(this.#value('peer.presharedkey') ? [`preshared_key=${hex(this.#value('peer.presharedkey'))}`] : []),
      `endpoint=${this.#value('peer.endpoint')}`,
      'allowed_ip=0.0.0.0/0',
      'allowed_ip=::/0',
    ]);
    const addresses = this.#value('interface.address').split(', ');
    const exec = (lines: readonly string[]) => this.#world.exec(this.where, 'sh', ['-c', lines.join(' && ')]);
    await exec([
      ...addresses.map((address) => `ip address add ${address} dev ${this.device} nodad`),
      `ip link set ${this.device} mtu ${this.#value('interface.mtu')} up`,
      `ip route replace default dev ${this.device}`,
      `ip -6 route replace default dev ${this.device}`,
    ]);
  }

  /** What the client itself counts: `sent` is its upload. */
  state(): Promise<DeviceState> {
    return readDevice(this.#control);
  }
  async counters(): Promise<{ readonly up: number; readonly down: number }> {
    const [peer] = (await this.state()).peers.values();
    return { up: peer?.sent ?? 0, down: peer?.received ?? 0 };
  }
}
