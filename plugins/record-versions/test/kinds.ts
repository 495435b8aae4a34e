// Each kind of record that has versions: how one is made, read, and edited in two ways.
import type { TestPanel } from '../../../test/harness/index.js';

export interface Target {
  /** reads the record, with its version */
  read(panel: TestPanel): Promise<{ readonly version: string; readonly record: Record<string, unknown> }>;
  /** path of the update */
  readonly update: string;
  readonly edits: readonly [Record<string, unknown>, Record<string, unknown>];
  /** of the record as it is read, what the edits change */
  shows(record: Record<string, unknown>): unknown;
  /** path of the deletion, a POST with this body */
  readonly remove?: readonly [path: string, body: Record<string, unknown>];
}
type Get = Record<string, unknown> & { readonly version: string };

const read =
  (
    path: string,
    options: { readonly method?: string } = {},
    pick: (obj: unknown) => unknown = (obj) => obj,
  ) =>
  async (panel: TestPanel) => {
    const record = pick(await panel.get<unknown>(path, options)) as Get;
    return { version: record.version, record };
  };
const last = (list: unknown): unknown => (list as unknown[]).at(-1);

/** The name of the kind, and what makes a record of it. */
export const kinds: Readonly<Record<string, (panel: TestPanel) => Promise<Target>>> = {
  client: async (panel) => {
    await panel.addClient('ada', [await panel.addInbound()]);
    return {
      read: read('/panel/api/clients/get/ada'),
      update: '/panel/api/clients/update/ada',
      edits: [{ totalGB: 5 }, { totalGB: 7 }],
      shows: ({ totalGB }) => totalGB,
      remove: ['/panel/api/clients/del/ada', {}],
    };
  },
  inbound: async (panel) => {
    const id = await panel.addInbound();
    return {
      read: read(`/panel/api/inbounds/get/${id}`),
      update: `/panel/api/inbounds/update/${id}`,
      edits: [{ remark: 'one' }, { remark: 'two' }],
      shows: ({ remark }) => remark,
      remove: [`/panel/api/inbounds/del/${id}`, {}],
    };
  },
  fallbacks: async (panel) => {
    const id = await panel.addInbound();
    const path = `/panel/api/inbounds/${id}/fallbacks`;
    const child = await panel.addInbound();
    const to = (path: string) => ({ fallbacks: [{ childId: child, path }] });
    return {
      read: async () => {
        const { headers, body } = await panel.call<unknown[]>(path);
        return { version: (headers.get('etag') ?? '').slice(1, -1), record: { fallbacks: body.obj } };
      },
      update: path,
      edits: [to('/one'), to('/two')],
      shows: ({ fallbacks }) => (fallbacks as { readonly path: string }[]).map((one) => one.path).join(),
    };
  },
  host: async (panel) => {
    const id = await panel.addInbound();
    const [{ groupId }] = await panel.get<[{ readonly groupId: string }]>('/panel/api/hosts/add', {
      body: { remark: 'front', inboundIds: [id], hosts: ['front.example'] },
    });
    return {
      read: read(`/panel/api/hosts/get/${groupId}`),
      update: `/panel/api/hosts/update/${groupId}`,
      edits: [{ hosts: ['one.example'] }, { hosts: ['two.example'] }],
      shows: ({ hosts }) => String(hosts),
      remove: [`/panel/api/hosts/del/${groupId}`, {}],
    };
  },
  settings: async () => ({
    read: read('/panel/api/setting/all', { method: 'POST' }),
    update: '/panel/api/setting/update',
    edits: [{ pageSize: 51 }, { pageSize: 52 }],
    shows: ({ pageSize }) => pageSize,
  }),
  template: async () => {
    const with_ = (tag: string) => ({ engineSetting: { outbounds: [{ tag, protocol: 'freedom' }] } });
    return {
      read: read('/panel/api/engine/', { method: 'POST' }),
      update: '/panel/api/engine/update',
      edits: [with_('one'), with_('two')],
      shows: ({ engineSetting }) => /"tag": "(one|two)"/.exec(String(engineSetting))?.[1],
    };
  },
  outboundSub: async (panel) => {
    const path = '/panel/api/engine/outbound-subs';
    const { id } = await panel.get<{ readonly id: number }>(path, {
      body: { remark: 'list', url: 'https://lists.example/all', enabled: false },
    });
    return {
      read: read(path, {}, last),
      update: `${path}/${id}`,
      edits: [{ remark: 'one' }, { remark: 'two' }],
      shows: ({ remark }) => remark,
      remove: [`${path}/${id}/del`, {}],
    };
  },
  subBalancer: async (panel) => {
    const path = '/panel/api/sub-balancers';
    const { id } = await panel.get<{ readonly id: number }>(path, {
      body: { remark: 'fast', inboundIds: [await panel.addInbound()] },
    });
    return {
      read: read(path, {}, last),
      update: `${path}/${id}`,
      edits: [{ remark: 'one' }, { remark: 'two' }],
      shows: ({ remark }) => remark,
      remove: [`${path}/${id}/del`, {}],
    };
  },
  node: async (panel) => {
    await panel.get('/panel/api/nodes/add', {
      body: { name: 'paris', address: 'paris.example', apiToken: 'secret-token', enable: false },
    });
    return {
      read: read('/panel/api/nodes/get/1'),
      update: '/panel/api/nodes/update/1',
      edits: [{ remark: 'one' }, { remark: 'two' }],
      shows: ({ remark }) => remark,
      remove: ['/panel/api/nodes/del/1', {}],
    };
  },
  endpoint: async (panel) => {
    const path = '/panel/api/x/event-callbacks/endpoints';
    await panel.get(path, { body: { id: 'shop', url: 'https://shop.example/weir', events: ['client.*'] } });
    return {
      read: read(`${path}/shop`),
      update: `${path}/shop`,
      edits: [{ description: 'one' }, { description: 'two' }],
      shows: ({ description }) => description,
      remove: [`${path}/shop/del`, {}],
    };
  },
  certificate: async (panel) => {
    const path = '/panel/api/x/certificates';
    const { id } = await panel.get<{ readonly id: number }>(path, {
      body: { names: ['vpn.example.com'], directory: 'https://acme.example/directory', agreeToTerms: true },
    });
    return {
      read: read(path, {}, last),
      update: `${path}/${id}/uses`,
      edits: [{ uses: { panel: true } }, { uses: { subscription: true } }],
      shows: ({ uses }) => JSON.stringify(uses),
      remove: [`${path}/${id}/del`, {}],
    };
  },
};
