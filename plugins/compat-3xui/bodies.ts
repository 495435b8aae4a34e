// Bodies of older programs in the form that our routes take.
import { jsonObject } from '../../kernel/index.js';
import type { Change, Input, Values } from './adapted-route.js';
import { isCentral, WHOLE_CLIENT } from './centrals.js';
import type { Call } from './names.js';
import { OLD_COOKIE } from './old-program.js';
import type { Ask } from './replies.js';
import { needsHosts, withOurNames } from './setting-names.js';

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Our routes would only bound the text. */
const jsonText = jsonObject();

/** JSON text or an object; undefined for anything else, and for a text that is too large or too deep. */
export function recordOf(value: unknown): Values | undefined {
  if (isRecord(value)) return value;
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return undefined;
  const { error, value: parsed } = jsonText.validate(value);
  return error ? undefined : parsed;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0);
const without = (values: Values, drop: (value: unknown, name: string) => boolean): Values =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !drop(value, name)));

/** py3xui sends all fields of all protocols and transports, most of them empty; each of these means nothing where it is empty. */
const ONLY_IF_SET = new Set(['decryption', 'encryption', 'fallbacks', 'externalProxy', 'xtlsSettings']);
const meansNothing = (value: unknown, name: string): boolean =>
  isEmpty(value) && (ONLY_IF_SET.has(name) || /Settings$/.test(name));

/** A client as programs write it: what is null was not set. */
export const clientOf = (client: unknown): unknown =>
  isRecord(client) ? without(client, (value) => value === null) : client;

const withClients = (settings: Values): Values =>
  Array.isArray(settings['clients']) ? { ...settings, clients: settings['clients'].map(clientOf) } : settings;

function inbound(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { settings, streamSettings, sniffing } = body;
  const [own, stream] = [recordOf(settings), recordOf(streamSettings)];
  return {
    ...without(body, (value, name) => name === 'allocate' || value === null),
    ...(own && { settings: withClients(without(own, meansNothing)) }),
    ...(stream && { streamSettings: without(stream, meansNothing) }),
    ...(isEmpty(settings) && settings !== undefined && { settings: {} }),
    ...(isEmpty(streamSettings) && streamSettings !== undefined && { streamSettings: {} }),
    ...(isEmpty(sniffing) && sniffing !== undefined && { sniffing: {} }),
  };
}

/** py3xui leaves out what has its default value, and means it. */
const PY3XUI_DEFAULTS = { reset: 0, flow: '', limitIp: 0, comment: '', tgId: 0, totalGB: 0, expiryTime: 0 };
/** It always sends these; with an API token only what it does with the id of a client that it has read tells it from others. */
const isPy3xui = (body: Values, { headers }: Input): boolean | undefined =>
  /^python-/.test(headers['user-agent'] ?? '') &&
  ['email', 'enable', 'id'].every((name) => name in body) &&
  (headers.cookie?.includes(`${OLD_COOKIE}=`) || body['id'] === body['uuid']);

function clientPatch(body: unknown, input: Input): unknown {
  if (!isRecord(body)) return body;
  const sent = clientOf(body) as Values;
  if (isCentral(input)) return { ...WHOLE_CLIENT, ...sent };
  return isPy3xui(sent, input) ? { ...PY3XUI_DEFAULTS, ...sent } : sent;
}

/** `ask` calls another route of ours for the same caller. */
type Read = (body: unknown, input: Input, ask: Ask) => ReturnType<Required<Change>['read']>;

export const reads: Readonly<Partial<Record<Call, Read>>> = {
  'POST /panel/api/inbounds/add': inbound,
  'POST /panel/api/inbounds/update/{id}': inbound,
  'POST /panel/api/clients/add': (body) =>
    isRecord(body) ? { ...body, client: clientOf(body['client']) } : body,
  'POST /panel/api/clients/update/{email}': clientPatch,
  'POST /panel/api/setting/update': async (body, input, ask) => {
    if (!isRecord(body)) return body;
    const inForce = needsHosts(body) ? await ask('POST /panel/api/setting/all', input) : {};
    return withOurNames(body, inForce as Values);
  },
  // A program that sends no tag means all.
  'POST /panel/api/engine/resetOutboundsTraffic': (body) =>
    isRecord(body) && Object.keys(body).length === 0 ? { tag: '-alltags-' } : body,
  'POST /panel/api/engine/update': (body) => {
    if (!isRecord(body)) return body;
    const { xraySetting, content, ...rest } = body;
    return { engineSetting: xraySetting ?? content, ...rest };
  },
};
