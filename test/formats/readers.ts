// How each program reads what a subscription serves. A document is used as it is, but for what a test must change: the ports on
// which the program listens, and that all it gets there goes through the one entry.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { linksOf, outboundOf } from '../demo/link-to-outbound.js';
import { engineBinary } from '../engine/user.js';
import { clientProgram, passes, type ProgramRun } from '../harness/client-program.js';

/** What a program gets. */
export interface Place {
  readonly socksPort: number;
  /** free for a reader that needs one more */
  readonly readyPort: number;
  /** file with the certificate that the program trusts */
  readonly trusted: string;
}
export interface Reader {
  /** of the program, when it fetches */
  readonly agent: string;
  /** The program says what build it is. */
  readonly build: () => Promise<string>;
  /** how many entries a body has */
  count(body: string): number;
  /** The program checks what was served. */
  check(body: string, place: Place): ProgramRun;
  /** The program carries what comes to its SOCKS port through the first entry. */
  run(body: string, place: Place): ProgramRun;
}
type Json = Record<string, unknown>;
interface Named extends Json {
  readonly name: string;
}
interface Tagged extends Json {
  readonly type: string;
  readonly tag: string;
}

/** The first line of what a program says. */
const said = async (command: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args)).stdout.split('\n', 1)[0] ?? '';
const HOST = '127.0.0.1';
const trusting = ({ trusted }: Place): Record<string, string> => ({ SSL_CERT_FILE: trusted });

const xray = (config: unknown, place: Place, ...args: readonly string[]): ProgramRun => ({
  command: engineBinary(),
  args: (file) => ['run', ...args, '-c', file],
  config: JSON.stringify(config),
  name: 'config.json',
  env: trusting(place),
});
const around = (body: string, { socksPort }: Place): Json => ({
  log: { loglevel: 'warning', access: 'none' },
  inbounds: [{ tag: 'socks', listen: HOST, port: socksPort, protocol: 'socks', settings: { udp: true } }],
  outbounds: linksOf(body)
    .slice(0, 1)
    .map((link) => outboundOf(link).outbound),
});
const buildOfXray = (): Promise<string> => said(engineBinary(), 'version');
const linksInXray: Reader = {
  build: buildOfXray,
  agent: 'v2rayN/7.0',
  count: (body) => linksOf(body).length,
  check: (body, place) => xray(around(body, place), place, '-test'),
  run: (body, place) => xray(around(body, place), place),
};

interface XrayDocument extends Json {
  readonly inbounds: readonly Json[];
}
const documentsOf = (body: string): XrayDocument[] =>
  [JSON.parse(body || '[]') as XrayDocument | XrayDocument[]].flat();
const jsonInXray: Reader = {
  build: buildOfXray,
  agent: 'v2rayNG/1.10',
  count: (body) => documentsOf(body).length,
  check: (body, place) => xray(documentsOf(body)[0], place, '-test'),
  run(body, place) {
    const [document] = documentsOf(body);
    const inbounds = document?.inbounds.slice(0, 1).map((one) => ({ ...one, port: place.socksPort }));
    return xray({ ...document, inbounds }, place);
  },
};

const mihomo = (config: string, place: Place, ...args: readonly string[]): ProgramRun => ({
  command: clientProgram('mihomo'),
  args: (file, folder) => [...args, '-d', folder, '-f', file],
  config,
  name: 'config.yaml',
  env: trusting(place),
});
const proxiesOf = (body: string): readonly Named[] =>
  (parse(body) as { readonly proxies?: readonly Named[] } | null)?.proxies ?? [];
const yamlInMihomo: Reader = {
  build: () => said(clientProgram('mihomo'), '-v'),
  agent: 'clash-verge/v2.0',
  count: (body) => proxiesOf(body).length,
  check: (body, place) => mihomo(body, place, '-t'),
  run(body, place) {
    const proxy = proxiesOf(body)[0]?.name;
    const socks = { type: 'socks', listen: HOST, udp: true };
    const listeners = [
      { ...socks, name: 'test', port: place.socksPort, proxy },
      { ...socks, name: 'ready', port: place.readyPort, proxy: 'DIRECT' },
    ];
    return {
      ...mihomo(`${body}\n${stringify({ listeners })}`, place),
      // It accepts connections before it serves them, and closes those.
      isReady: () => passes(place.readyPort),
    };
  },
};

interface BoxDocument extends Json {
  readonly outbounds?: readonly Tagged[];
  readonly endpoints?: readonly Tagged[];
}
const box = (config: unknown, place: Place, ...args: readonly string[]): ProgramRun => ({
  command: clientProgram('sing-box'),
  args: (file, folder) => [...args, '-c', file, '-D', folder],
  config: typeof config === 'string' ? config : JSON.stringify(config),
  name: 'config.json',
  env: trusting(place),
});
const GROUPS_AND_SUCH = ['selector', 'urltest', 'direct', 'block', 'dns'];
const nodesOf = (body: string): readonly Tagged[] => {
  const { outbounds = [], endpoints = [] } = JSON.parse(body || '{}') as BoxDocument;
  return [...outbounds, ...endpoints].filter(({ type }) => !GROUPS_AND_SUCH.includes(type));
};
const singBox: Reader = {
  build: () => said(clientProgram('sing-box'), 'version'),
  agent: 'SFA/1.14.0 (1; sing-box 1.14.0; language en)',
  count: (body) => nodesOf(body).length,
  check: (body, place) => box(body, place, 'check'),
  run(body, place) {
    const { experimental: _experimental, ...document } = JSON.parse(body) as BoxDocument;
    const [node] = nodesOf(body);
    const inbounds = [{ type: 'socks', tag: 'test', listen: HOST, listen_port: place.socksPort }];
    const { auto_detect_interface: _interface, ...route } = document['route'] as Json;
    const rules = [{ inbound: 'test', outbound: node?.tag }];
    return box({ ...document, inbounds, route: { ...route, rules } }, place, 'run');
  },
};

/** By format. */
export const READERS: Readonly<Record<string, Reader>> = {
  links: linksInXray,
  json: jsonInXray,
  alt: yamlInMihomo,
  'sing-box': singBox,
};
