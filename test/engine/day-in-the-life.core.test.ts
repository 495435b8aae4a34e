// One client from its first byte to its renewal, on a real core: the limits act together, one after the other. Time leaps
// in the panel; the core goes on as ever.
import { type Clock, systemClock } from '../../timing/clock.js';
import { Sockets } from '../../plugins/connection-cut/sockets.js';
import { download, startClientCore } from '../../plugins/engine/xray/test/traffic.js';
import { outboundOf } from '../demo/link-to-outbound.js';
import { testUnless } from '../harness/left-out.js';
import { engineBinary, MIB, openPanel, openServer, poll } from './user.js';

const test = testUnless(await new Sockets().obstacle());

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const QUOTA = 6 * MIB;
/** Far more than the quota. */
const ENDLESS = 600 * MIB;
const [HOME, STREET] = ['127.0.0.2', '127.0.0.3'];

/** The machine's time, moved. */
class LeapingClock implements Clock {
  #ahead: number;
  readonly every = systemClock.every;
  constructor(start: number) {
    this.#ahead = start - Date.now();
  }
  now(): number {
    return Date.now() + this.#ahead;
  }
  leap(ms: number): void {
    this.#ahead += ms;
  }
}

interface Ann {
  readonly enable: boolean;
  readonly expiryTime: number;
  readonly subId: string;
  readonly traffic: { readonly up: number; readonly down: number; readonly resetCount: number };
}

test('a client starts, meets each of its limits, comes back at midnight, expires and is renewed', async (t) => {
  // Ten at night in Berlin; in three hours, two o'clock will be three.
  const clock = new LeapingClock(Date.UTC(2026, 2, 28, 21));
  const [panel, server] = [await openPanel(t, { clock }), await openServer(t)];
  await panel.get('/panel/api/setting/update', {
    // The core's clients are on loopback here.
    body: { addressesIgnored: '', timeLocation: 'Europe/Berlin', subPath: '/s/' },
  });
  const vless = await panel.addInbound();
  const trojan = await panel.addInbound({ protocol: 'trojan' });
  await panel.addClient('ann', [vless, trojan], {
    subId: 'ann',
    expiryTime: -2 * DAY,
    limitHwid: 1,
    limitIp: 1,
    totalGB: QUOTA,
    trafficReset: 'daily',
  });
  const ann = (): Promise<Ann> => panel.get('/panel/api/clients/get/ann');
  const polled = async (): Promise<Ann> => {
    await poll(panel);
    return ann();
  };
  const update = (body: object) => panel.get('/panel/api/clients/update/ann', { body });

  const fetched = async (device: string) => {
    const port = panel.kernel.listeners.port('subscription');
    const answer = await fetch(`http://127.0.0.1:${port}/s/ann`, { headers: { 'x-hwid': device } });
    const text = Buffer.from(await answer.text(), 'base64').toString();
    return { status: answer.status, links: text.split('\n').filter((line) => line !== '') };
  };
  const phone = await fetched('the phone');
  t.is(phone.links.length, 2);
  t.deepEqual(await fetched('a tablet'), { status: 404, links: [] }, 'the device limit');
  t.is((await fetched('the phone')).status, 200);

  const from = async (address: string, link = 0) => {
    const { outbound } = outboundOf(phone.links[link] ?? '');
    const sent = { ...outbound, sendThrough: address };
    const core = await startClientCore({ binary: engineBinary(), outbound: sent });
    t.teardown(core.stop);
    const { socksPort } = core;
    return {
      serves: () => download({ socksPort, server, bytes: 1000 }).catch(() => 0),
      start: () => {
        const transfer = { soFar: 0 };
        const onBytes = (soFar: number) => void (transfer.soFar = soFar);
        download({ socksPort, server, bytes: ENDLESS, rate: MIB, onBytes }).catch(() => undefined);
        return transfer;
      },
    };
  };
  const [home, street, overTrojan] = [await from(HOME), await from(STREET), await from(HOME, 1)];

  t.is((await polled()).expiryTime, -2 * DAY, 'unused, its time stands still');
  const began = clock.now();
  const first = home.start();
  await panel.until(() => first.soFar > 0, 'the first transfer');
  await panel.until(async () => (await polled()).expiryTime > 0, 'the first use is noticed');
  const { expiryTime } = await ann();
  t.true(expiryTime >= began + 2 * DAY && expiryTime <= clock.now() + 2 * DAY);

  const second = street.start();
  await panel.until(() => second.soFar > 0, 'the second address transfers');
  await panel.until(() => server.giving === 1, 'the second address is cut');
  const before = first.soFar;
  await panel.until(() => first.soFar > before, 'the first goes on');

  await panel.until(async () => !(await polled()).enable, 'the quota is used up');
  await panel.until(() => server.giving === 0, 'the transfer ends');
  t.is(await home.serves(), 0);
  t.is(await overTrojan.serves(), 0);
  t.deepEqual(await fetched('the phone'), { status: 200, links: [] });

  clock.leap(119 * MINUTE);
  t.false((await polled()).enable, 'a minute before midnight');
  clock.leap(MINUTE);
  const back = await polled();
  t.true(back.enable);
  t.deepEqual([back.traffic.up, back.traffic.down], [0, 0]);
  t.is(back.expiryTime, expiryTime);
  t.is(await home.serves(), 1000);

  clock.leap(2 * DAY);
  await panel.login();
  t.false((await polled()).enable, 'its two days are over');
  t.is(await home.serves(), 0);
  await update({ reset: 30 });
  const renewed = await polled();
  t.true(renewed.enable);
  t.is(renewed.expiryTime, expiryTime + 30 * DAY);
  t.is(renewed.traffic.resetCount, 1);
  t.is(await home.serves(), 1000);

  await panel.get('/panel/api/clients/ann/detach', { body: { inboundIds: [vless] } });
  t.is(await home.serves(), 0);
  t.is(await overTrojan.serves(), 1000, 'it goes on over the other protocol');
  t.deepEqual(panel.faults, []);
});
