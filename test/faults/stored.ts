// What a panel has stored of the records that the script writes, as its API shows it.
import type { PanelApi } from '../harness/api.js';

export type Fields = Readonly<Record<string, unknown>>;
/** Fields by `area/name`. */
export type Stored = Map<string, Fields>;

const API = '/panel/api/';
/** Fields of the rows of all lists; each row has some of them. */
interface Row {
  readonly id: string | number;
  readonly name: string;
  readonly remark: string;
  readonly email: string;
  readonly clientEmail: string;
  readonly groupId: string;
  readonly guid: string;
  readonly url: string;
  readonly names: readonly string[];
  readonly inboundIds: readonly number[];
  readonly ips: readonly { readonly ip: string }[];
  readonly uses: { readonly subscription: boolean };
  readonly traffic: { readonly up: number; readonly down: number };
  readonly [field: string]: unknown;
}
/** Ids by `area/name`, and the other way round by `area/id`. */
export class Ids {
  readonly #ids = new Map<string, string | number>();
  readonly #names = new Map<string, string>();

  add(area: string, name: string, id: string | number): void {
    this.#ids.set(`${area}/${name}`, id);
    this.#names.set(`${area}/${id}`, name);
  }
  of(key: string): string | number {
    const id = this.#ids.get(key);
    if (id === undefined) throw new Error(`${key} has no id`);
    return id;
  }
  names(area: string, ids: readonly number[]): string[] {
    return ids.map((id) => this.#names.get(`${area}/${id}`) ?? `unknown ${id}`).sort();
  }
}

interface Area {
  readonly path: string;
  readonly method?: string;
  name(row: Row): string;
  /** what the script names a record by in its calls; else the name */
  id?(row: Row): string | number;
  fields(row: Row, ids: Ids): Fields;
  /** what a new one has where its call says nothing */
  readonly initial: Fields;
}

/** Inbounds first: others refer to them. */
export const AREAS: Readonly<Record<string, Area>> = {
  inbound: {
    path: 'inbounds/list',
    name: ({ remark }) => remark,
    id: ({ id }) => id,
    fields: ({ port, enable, total, subSortIndex, up, down }) => ({
      port,
      enable,
      total,
      subSortIndex,
      up,
      down,
    }),
    initial: { enable: true, total: 0, subSortIndex: 1, up: 0, down: 0 },
  },
  client: {
    path: 'clients/list',
    name: ({ email }) => email,
    fields: ({ comment, group, totalGB, enable, limitHwid, inboundIds, traffic: { up, down } }, ids) => ({
      ...{ comment, group, totalGB, enable, limitHwid, up, down },
      inbounds: ids.names('inbound', inboundIds),
    }),
    initial: { comment: '', group: '', totalGB: 0, enable: true, limitHwid: 0, up: 0, down: 0, inbounds: [] },
  },
  addresses: {
    path: 'server/clientIps',
    name: ({ clientEmail }) => clientEmail,
    fields: ({ ips }) => ({ ips: ips.map(({ ip }) => ip).sort() }),
    initial: {},
  },
  group: { path: 'clients/groups', name: ({ name }) => name, fields: () => ({}), initial: {} },
  host: {
    path: 'hosts/list',
    name: ({ remark }) => remark,
    id: ({ groupId }) => groupId,
    fields: ({ hosts, isDisabled, sni, inboundIds }, ids) => ({
      ...{ hosts, isDisabled, sni },
      inbounds: ids.names('inbound', inboundIds),
    }),
    initial: { hosts: [], isDisabled: false, sni: '', inbounds: ['base-1'] },
  },
  subBalancer: {
    path: 'sub-balancers',
    name: ({ remark }) => remark,
    id: ({ id }) => id,
    fields: ({ strategy, inboundIds }, ids) => ({ strategy, inbounds: ids.names('inbound', inboundIds) }),
    initial: { inbounds: ['base-1'] },
  },
  outboundSub: {
    path: 'engine/outbound-subs',
    name: ({ remark }) => remark,
    id: ({ id }) => id,
    fields: ({ url, tagPrefix }) => ({ url, tagPrefix }),
    initial: {},
  },
  node: {
    path: 'nodes/list',
    name: ({ name }) => name,
    id: ({ id }) => id,
    fields: ({ remark, address }) => ({ remark, address }),
    initial: { remark: '' },
  },
  token: {
    path: 'setting/apiTokens',
    name: ({ name }) => name,
    id: ({ id }) => id,
    fields: ({ enabled }) => ({ enabled }),
    initial: { enabled: true },
  },
  role: {
    path: 'x/roles',
    name: ({ name }) => name,
    id: ({ id }) => id,
    fields: ({ permissions }) => ({ permissions }),
    initial: { permissions: [] },
  },
  admin: {
    path: 'x/admins',
    name: ({ username }) => String(username),
    id: ({ id }) => id,
    fields: ({ enabled }) => ({ enabled }),
    initial: { enabled: true },
  },
  certificate: {
    path: 'x/certificates',
    name: ({ names: [first = ''] }) => first,
    id: ({ id }) => id,
    fields: ({ uses }) => ({ subscription: uses.subscription }),
    initial: { subscription: false },
  },
  callback: {
    path: 'x/event-callbacks/endpoints',
    name: ({ url }) => url,
    id: ({ id }) => id,
    fields: ({ description, events, enable }) => ({ description, events, enable }),
    initial: { description: '', enable: true },
  },
  central: {
    path: 'x/node/centrals',
    name: ({ guid }) => guid,
    fields: () => ({}),
    initial: {},
  },
};

/** Settings that the script changes. */
export const SETTINGS = [
  ...['pageSize', 'subTitle', 'subAnnounce', 'auditDays', 'nodeDownThreshold', 'warnExpiryDays'],
  ...[
    'devChannelEnable',
    'webhookToken',
    'smtpHost',
    'trustedProxyCIDRs',
    'remarkTemplate',
    'edgetunnelUpdateInterval',
  ],
];

interface Template {
  readonly outbounds: readonly { readonly tag: string }[];
  readonly routing?: {
    readonly balancers?: readonly { readonly tag: string }[];
    readonly rules?: readonly Fields[];
  };
}

async function readTemplate(panel: PanelApi): Promise<Fields> {
  const { engineSetting } = await panel.get<{ engineSetting: string }>(`${API}engine/`, { method: 'POST' });
  const { outbounds, routing } = JSON.parse(engineSetting) as Template;
  return {
    outbounds: outbounds.map(({ tag }) => tag),
    balancers: (routing?.balancers ?? []).map(({ tag }) => tag),
    rules: (routing?.rules ?? []).length,
  };
}

/** One area, or what belongs to a single record each. */
async function readArea(panel: PanelApi, area: string, stored: Stored, ids: Ids): Promise<void> {
  const { path, method = 'GET', name, id, fields } = AREAS[area] as Area;
  for (const row of await panel.get<Row[]>(API + path, { method })) {
    const named = String(name(row));
    if (stored.has(`${area}/${named}`)) throw new Error(`${area}/${named} is stored twice`);
    stored.set(`${area}/${named}`, fields(row, ids));
    if (id) ids.add(area, named, id(row));
  }
}

/** Ids of what came since the last reading. */
export const readIds = (panel: PanelApi, area: string, ids: Ids): Promise<void> =>
  readArea(panel, area, new Map(), ids);

export async function readStored(panel: PanelApi, ids: Ids): Promise<Stored> {
  const stored: Stored = new Map();
  for (const area of Object.keys(AREAS)) await readArea(panel, area, stored, ids);
  const links = [...stored.keys()].filter((key) => key.startsWith('client/linked'));
  for (const key of links) {
    const { externalLinks } = await panel.get<{ externalLinks: { remark: string }[] }>(
      `${API}clients/get/${encodeURIComponent(key.slice('client/'.length))}`,
    );
    stored.set(key, { ...stored.get(key), links: externalLinks.map(({ remark }) => remark) });
  }
  const settings = await panel.get<Record<string, unknown>>(`${API}setting/all`, { method: 'POST' });
  stored.set('one/settings', Object.fromEntries(SETTINGS.map((name) => [name, settings[name]])));
  stored.set('one/hasWebhookToken', { has: settings['hasWebhookToken'] });
  stored.set('one/template', await readTemplate(panel));
  const { createdAt } = await panel.get<{ createdAt: number | null }>(`${API}x/metrics/token`);
  stored.set('one/metricsToken', { has: createdAt !== null });
  const backups = await panel.get<{ problem: string }[]>(`${API}x/backup/list`);
  stored.set('one/backups', {
    count: backups.length,
    problems: backups.map(({ problem }) => problem).join(''),
  });
  const fallbacks = await panel.get<{ dest: string }[]>(
    `${API}inbounds/${ids.of('inbound/base-1')}/fallbacks`,
  );
  stored.set('one/fallbacks', { dests: fallbacks.map(({ dest }) => dest) });
  const order = await panel.get<{ remark: string }[]>(`${API}engine/outbound-subs`);
  stored.set('one/preferences', await panel.get<Fields>(`${API}x/preferences`));
  stored.set('one/orderOfOutboundSubs', { names: order.map(({ remark }) => remark) });
  return stored;
}
