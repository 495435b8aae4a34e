// Hosts, balancers of the subscription, lists of outbounds and the template of the core.
import type { Act, Part, World } from '../act.js';

const onRecord = (
  area: string,
  start: string,
  route: string,
  make: (id: string | number, key: string, world: World) => Act,
): Part => ({
  route,
  make: async (world) => {
    const name = world.random.pick(world.named(area, start));
    return name === undefined ? undefined : make(await world.id(`${area}/${name}`), `${area}/${name}`, world);
  },
});
const base = ({ ids }: World) => ids.of('inbound/base-1');
const onHost = (route: string, make: (id: string | number, key: string, world: World) => Act) =>
  onRecord('host', 'h-', `POST ${route}`, make);
const onBalancer = (route: string, make: (id: string | number, key: string, world: World) => Act) =>
  onRecord('subBalancer', 'b-', route, make);
const onList = (route: string, make: (id: string | number, key: string, world: World) => Act) =>
  onRecord('outboundSub', 'l-', route, make);

const addHosts = (path: string): Part => ({
  route: `POST ${path}`,
  make: (world) => {
    const remark = world.fresh('h-');
    const hosts = [`${remark}.example.com`, `${remark}.example.org:8443`];
    return {
      path,
      body: { inboundIds: [base(world)], remark, hosts, sni: 'x.example' },
      change: { [`host/${remark}`]: { hosts, sni: 'x.example' } },
    };
  },
});
/** Hosts of the first three groups. */
const several = (route: string, change: { readonly isDisabled: boolean } | undefined): Part => ({
  route: `POST ${route}`,
  make: async (world) => {
    const names = world.named('host', 'h-').slice(0, 3);
    if (names.length < 2) return undefined;
    const ids = await Promise.all(names.map((name) => world.id(`host/${name}`)));
    return {
      path: route,
      body: { ids, ...(change && { enable: !change.isDisabled }) },
      change: Object.fromEntries(names.map((name) => [`host/${name}`, change])),
    };
  },
});

const order = ({ stored }: World): string[] =>
  (stored.get('one/orderOfOutboundSubs') as { readonly names: string[] }).names;
const deleteList = (key: string, world: World, path: string, method: 'POST' | 'DELETE') => ({
  ...{ path, method },
  change: {
    [key]: undefined,
    'one/orderOfOutboundSubs': { names: order(world).filter((name) => `outboundSub/${name}` !== key) },
  },
});
const list = (remark: string, random: number) => ({
  ...{ remark, url: `https://lists.example/${random}`, tagPrefix: `${remark}-`, enabled: false },
});

const template = ({ random }: World): Act => {
  const outbounds = Array.from({ length: 2 + random.below(4) }, (_, i) => ({
    tag: i === 0 ? 'direct' : `out-${i}-${random.below(1000)}`,
    protocol: i === 0 ? 'freedom' : 'blackhole',
  }));
  const balancers = Array.from({ length: random.below(3) }, (_, i) => ({
    tag: `pool-${i}`,
    selector: ['out-'],
  }));
  const rules = balancers.map(({ tag }) => ({ type: 'field', domain: [`${tag}.example`], balancerTag: tag }));
  return {
    path: 'engine/update',
    body: { engineSetting: { outbounds, routing: { balancers, rules } } },
    change: {
      'one/template': {
        outbounds: outbounds.map(({ tag }) => tag),
        balancers: balancers.map(({ tag }) => tag),
        rules: rules.length,
      },
    },
  };
};

export const ways: readonly Part[] = [
  addHosts('hosts/add'),
  addHosts('hosts/bulk/add'),
  onHost('hosts/update/{groupId}', (id, key, { random }) => {
    const hosts = [`${random.below(1e6)}.example.com`];
    return { path: `hosts/update/${id}`, body: { hosts, sni: '' }, change: { [key]: { hosts, sni: '' } } };
  }),
  onHost('hosts/setEnable/{groupId}', (id, key) => ({
    path: `hosts/setEnable/${id}`,
    body: { enable: true },
    change: { [key]: { isDisabled: false } },
  })),
  several('hosts/bulk/setEnable', { isDisabled: true }),
  several('hosts/bulk/del', undefined),
  onHost('hosts/del/{groupId}', (id, key) => ({
    path: `hosts/del/${id}`,
    method: 'POST',
    change: { [key]: undefined },
  })),
  onHost('hosts/reorder', (id) => ({ path: 'hosts/reorder', body: { ids: [id] } })),
  {
    route: 'POST sub-balancers',
    make: (world) => {
      const remark = world.fresh('b-');
      return {
        path: 'sub-balancers',
        body: { remark, strategy: 'random', inboundIds: [base(world)] },
        change: { [`subBalancer/${remark}`]: { strategy: 'random' } },
      };
    },
  },
  onBalancer('POST sub-balancers/{id}', (id, key, world) => ({
    path: `sub-balancers/${id}`,
    body: { remark: key.slice('subBalancer/'.length), strategy: 'leastLoad', inboundIds: [base(world)] },
    change: { [key]: { strategy: 'leastLoad' } },
  })),
  onBalancer('POST sub-balancers/{id}/del', (id, key) => ({
    path: `sub-balancers/${id}/del`,
    method: 'POST',
    change: { [key]: undefined },
  })),
  onBalancer('DELETE sub-balancers/{id}', (id, key) => ({
    path: `sub-balancers/${id}`,
    method: 'DELETE',
    change: { [key]: undefined },
  })),
  {
    route: 'POST engine/outbound-subs',
    make: (world) => {
      const body = list(world.fresh('l-'), world.random.below(1e6));
      return {
        path: 'engine/outbound-subs',
        body,
        change: {
          [`outboundSub/${body.remark}`]: { url: body.url, tagPrefix: body.tagPrefix },
          'one/orderOfOutboundSubs': { names: [...order(world), body.remark] },
        },
      };
    },
  },
  onList('POST engine/outbound-subs/{id}', (id, key, { random }) => {
    const body = list(key.slice('outboundSub/'.length), random.below(1e6));
    return {
      path: `engine/outbound-subs/${id}`,
      body,
      change: { [key]: { url: body.url, tagPrefix: body.tagPrefix } },
    };
  }),
  onList('POST engine/outbound-subs/{id}/move', (id, key, world) => {
    const names = [...order(world)];
    const at = names.findIndex((name) => `outboundSub/${name}` === key);
    if (at > 0) names.splice(at - 1, 2, names[at] as string, names[at - 1] as string);
    return {
      path: `engine/outbound-subs/${id}/move`,
      body: { dir: 'up' },
      change: { 'one/orderOfOutboundSubs': { names } },
    };
  }),
  onList('POST engine/outbound-subs/{id}/del', (id, key, world) =>
    deleteList(key, world, `engine/outbound-subs/${id}/del`, 'POST'),
  ),
  onList('DELETE engine/outbound-subs/{id}', (id, key, world) =>
    deleteList(key, world, `engine/outbound-subs/${id}`, 'DELETE'),
  ),
  { route: 'POST engine/update', make: template },
  { route: 'POST engine/update', make: template },
];
