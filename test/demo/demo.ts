// The demo: a panel, its core, and real traffic through every kind of inbound. All printed figures are measured: bytes at
// the server that sent them, and bytes that the panel counted.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ByteServer,
  download,
  startByteServer,
  startClientCore,
  upload,
} from '../../plugins/engine/xray/test/traffic.js';
import { PanelProcess } from '../harness/panel-process.js';
import { Cleanup } from './cleanup.js';
import { linksOf, outboundOf } from './link-to-outbound.js';
import { openSite } from './streams.js';
import { mib, percent, percentText, table } from './table.js';

const MIB = 1024 * 1024;
const DOWN = 32 * MIB;
const UP = 8 * MIB;
const QUOTA = 8 * MIB;
/** bytes per second of the download that reaches the quota */
const RATE = 2 * MIB;
/** In percent. Framing differs between protocols; counting bytes twice would be far beyond this. */
const TOLERANCE_PERCENT = 2;

/** `stream` is a name in streams.ts; blank for none. */
const KINDS = [
  { remark: 'vless, tcp, reality, vision', protocol: 'vless', stream: 'tcp reality', settings: {} },
  { remark: 'vless, ws', protocol: 'vless', stream: 'ws', settings: {} },
  { remark: 'vless, grpc, tls', protocol: 'vless', stream: 'grpc tls', settings: {} },
  { remark: 'vmess, httpupgrade', protocol: 'vmess', stream: 'httpupgrade', settings: {} },
  { remark: 'vmess, ws, tls', protocol: 'vmess', stream: 'ws tls', settings: {} },
  { remark: 'trojan, tcp, tls', protocol: 'trojan', stream: 'tcp tls', settings: {} },
  { remark: 'trojan, xhttp', protocol: 'trojan', stream: 'xhttp', settings: {} },
  {
    remark: 'shadowsocks, chacha20',
    protocol: 'shadowsocks',
    stream: 'tcp',
    settings: { method: 'chacha20-ietf-poly1305' },
  },
  {
    remark: 'shadowsocks of 2022',
    protocol: 'shadowsocks',
    stream: 'tcp',
    settings: { method: '2022-blake3-aes-128-gcm', password: randomBytes(16).toString('base64') },
  },
  { remark: 'hysteria 2', protocol: 'hysteria', stream: 'hysteria', settings: {} },
  { remark: 'http', protocol: 'http', stream: '', settings: {} },
  { remark: 'mixed, by socks', protocol: 'mixed', stream: '', settings: {} },
] as const;

interface Usage {
  readonly up: number;
  readonly down: number;
}
/** A user's own program, connected by a link, and a server. */
interface User {
  readonly server: ByteServer;
  readonly socksPort: number;
  readonly stop: () => Promise<void>;
}
interface Line {
  readonly remark: string;
  readonly inboundId: number;
  readonly moved: Usage;
}
const both = ({ up, down }: Usage): number => up + down;
const sum = (usages: readonly Usage[]): Usage => ({
  up: usages.reduce((all, { up }) => all + up, 0),
  down: usages.reduce((all, { down }) => all + down, 0),
});

export interface DemoOptions {
  /** path of the core's program, for the panel and for the user's side */
  readonly binary: string;
  readonly say?: (text: string) => void;
}

/** Resolves with the exit code: 0 when every figure agrees. */
export async function demo({
  binary,
  say = (text) => void process.stdout.write(`${text}\n`),
}: DemoOptions): Promise<number> {
  await using cleanup = new Cleanup();
  const started = Date.now();
  const server = await startByteServer();
  cleanup.add(() => server.stop());
  const site = await openSite(binary);
  cleanup.add(() => site.stop());
  const starting = PanelProcess.start({
    env: { WEIR_ENGINE_BIN: binary, WEIR_ENGINE_PRIVATE: 'allow', ...site.env },
  });
  cleanup.add(async () => {
    const begun = await starting;
    await begun.kill('SIGTERM');
    await begun.dispose();
  });
  const panel = await starting;
  if (panel.ready.engine !== 'running')
    throw new Error(`the core does not run: ${panel.ready.engineProblem ?? 'no reason given'}`);
  const { engine } = await panel.get<{ engine: { version: string } }>('/panel/api/server/status');
  const corePid = await panel.corePid();
  say(
    `A panel (process ${panel.pid}) and its core (Xray ${engine.version}, process ${corePid}), in a temporary folder, on loopback.\n`,
  );

  const ids: number[] = [];
  for (const { stream, ...kind } of KINDS)
    ids.push(
      await panel.addInbound({
        ...kind,
        streamSettings: stream === 'hysteria' ? site.hysteria : site.streams.get(stream),
      }),
    );
  const client = await panel.addClient('alice', ids, { flow: 'xtls-rprx-vision' });
  const subscription = await fetch(panel.ready.subUrl + client.subId);
  const links = linksOf(await subscription.text());
  if (subscription.status !== 200 || links.length !== KINDS.length)
    throw new Error(
      `the subscription answered ${subscription.status} with ${links.length} links instead of ${KINDS.length}`,
    );
  say(
    `${KINDS.length} inbounds, one client, alice; her subscription has ${links.length} links. Each link becomes the outbound of a second\ncore, which moves ${mib(DOWN)} down and ${mib(UP)} up through it.\n`,
  );

  const lines: Line[] = [];
  const user = async (link: string): Promise<User> => {
    const core = await startClientCore({ binary, outbound: outboundOf(link).outbound });
    cleanup.add(core.stop);
    return { server, socksPort: core.socksPort, stop: core.stop };
  };
  for (const [i, { remark }] of KINDS.entries())
    lines.push({ remark, inboundId: ids[i] ?? 0, moved: await move(await user(links[i] ?? '')) });
  const agrees = await compare(panel, lines, say);
  const held = await showQuota({ panel, user, inboundId: ids[0] ?? 0, say });

  // Later polls must not change what is counted.
  const later = await usageOf(panel, 'alice');
  const once =
    Math.abs(percent(both(later), both(sum(lines.map(({ moved }) => moved))))) <= TOLERANCE_PERCENT;
  if (!once) say(`alice's total changed afterwards to ${mib(both(later))}, though she moved nothing`);
  const alice = await user(links[0] ?? '');
  const served = (await download({ ...alice, bytes: MIB })) === MIB;
  say(`alice, on the same inbound, ${served ? 'is served as before' : 'IS NOT SERVED any more'}.`);
  const sameCore = corePid !== undefined && (await panel.corePid()) === corePid;
  say(
    sameCore
      ? `\nThe core (process ${corePid}) was never restarted.`
      : '\nThe core was restarted, which nothing here should need.',
  );
  const good = agrees && held && once && served && sameCore;
  say(
    `${good ? 'All figures agree' : 'SOMETHING DIFFERS, see above'}; the demo took ${((Date.now() - started) / 1000).toFixed(0)} s.`,
  );
  return good ? 0 : 1;
}

/** Moves bytes through the link; resolves with what the byte server sent and received. */
async function move(user: User): Promise<Usage> {
  const { server } = user;
  const before = { up: server.received, down: server.sent };
  await download({ ...user, bytes: DOWN });
  await upload({ ...user, bytes: UP });
  await user.stop();
  return { up: server.received - before.up, down: server.sent - before.down };
}

const usageOf = (panel: PanelProcess, email: string): Promise<Usage & { enable: boolean }> =>
  panel.get(`/panel/api/clients/traffic/${email}`);

async function compare(
  panel: PanelProcess,
  lines: readonly Line[],
  say: (text: string) => void,
): Promise<boolean> {
  const moved = sum(lines.map((line) => line.moved));
  const counted = async (): Promise<Usage[]> =>
    Promise.all(lines.map(({ inboundId }) => panel.get<Usage>(`/panel/api/inbounds/get/${inboundId}`)));
  const asked = Date.now();
  // If the panel counts too little, the table shows it.
  await panel
    .until(async () => both(sum(await counted())) >= both(moved), 'the poll counts what was moved')
    .catch(() => undefined);
  const figures = await counted();
  const total = await usageOf(panel, 'alice');
  const differences = lines.map((line, i) =>
    percent(both(figures[i] ?? { up: 0, down: 0 }), both(line.moved)),
  );
  const row = (name: string, real: Usage, seen: Usage): string[] => [
    name,
    mib(real.down),
    mib(seen.down),
    mib(real.up),
    mib(seen.up),
    percentText(percent(both(seen), both(real))),
  ];
  say(
    table(
      ['inbound', 'sent', 'counted', 'received', 'counted', 'difference'],
      [
        ...lines.map(({ remark, moved: real }, i) => row(remark, real, figures[i] ?? { up: 0, down: 0 })),
        row('alice in all', moved, total),
      ],
    ),
  );
  say(
    `\n"sent" and "received" are the byte server's, "counted" the panel's, ${((Date.now() - asked) / 1000).toFixed(1)} s after the last transfer.`,
  );
  const inAll = sum(figures);
  const adds = inAll.up === total.up && inAll.down === total.down;
  say(
    adds
      ? "alice's total is the sum of the inbounds, to the byte."
      : `alice's total (${both(total)} bytes) is NOT the sum of the inbounds (${both(inAll)} bytes).`,
  );
  return adds && differences.every((difference) => Math.abs(difference) <= TOLERANCE_PERCENT);
}

async function showQuota({
  panel,
  user,
  inboundId,
  say,
}: {
  panel: PanelProcess;
  user: (link: string) => Promise<User>;
  inboundId: number;
  say: (text: string) => void;
}): Promise<boolean> {
  const client = await panel.addClient('bob', [inboundId], { totalGB: QUOTA });
  const [link = ''] = linksOf(await (await fetch(panel.ready.subUrl + client.subId)).text());
  const bob = await user(link);
  const wanted = 20 * QUOTA;
  let came = 0;
  const transfer = download({ ...bob, bytes: wanted, rate: RATE, onBytes: (soFar) => (came = soFar) }).then(
    () => true,
    () => false,
  );
  await panel.until(async () => !(await usageOf(panel, 'bob')).enable, 'the client is disabled');
  const { openConnections } = await panel.get<{ openConnections: { end: boolean; reason: string } }>(
    `/panel/api/inbounds/get/${inboundId}`,
  );
  say(
    `\nbob, with a quota of ${mib(QUOTA)}, is in the middle of a download of ${mib(wanted)} at ${mib(RATE)} a second. A poll switches him off`,
  );
  // A program on plain TCP may still wait for bytes after its connection was closed.
  const ended = await endOf(transfer, () => came);
  const cut = !openConnections.end || (ended && came < wanted);
  say(
    openConnections.end
      ? `and ends his connection: ${mib(came)} came.`
      : `and his connection stays open, because ${openConnections.reason}: ${mib(came)} have come.`,
  );
  if (!cut) say('HIS CONNECTION WENT ON.');
  const refused = await isRefused(() => download({ ...bob, bytes: MIB }));
  const left = linksOf(await (await fetch(panel.ready.subUrl + client.subId)).text()).length;
  say(
    `His next connection is ${refused ? 'refused by the core' : 'STILL SERVED'}; his subscription has ${left} links.`,
  );
  return cut && refused && left === 0;
}

/** Whether no more bytes come, whether the transfer ended or is only silent. */
async function endOf(transfer: Promise<boolean>, came: () => number): Promise<boolean> {
  for (let tries = 0; tries < 15; tries++) {
    const before = came();
    if (
      (await Promise.race([transfer, sleep(1000, 'running' as const, { ref: false })])) !== 'running' ||
      came() === before
    )
      return true;
  }
  return false;
}

/** The core removes the user a moment after the client is disabled in the database; a connection that hangs counts as refused. */
async function isRefused(connect: () => Promise<number>): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    const served = await Promise.race([
      connect().then(
        () => true,
        () => false,
      ),
      sleep(5000, false, { ref: false }),
    ]);
    if (!served) return true;
    await sleep(100);
  }
  return false;
}
