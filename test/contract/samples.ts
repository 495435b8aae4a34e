// What tests of all routes call them with, and a panel that has what the examples name.
import type { Schema, ServedRoute } from '../../kernel/index.js';
import { Describer } from '../../plugins/api-docs/json-schema.js';
import { bootWithoutCore } from '../harness/reference.js';
import type { TestPanel } from '../harness/panel.js';
import { exampleOf } from './example.js';

export type Fields = Record<string, unknown>;
export const nameOf = ({ route, path }: ServedRoute): string => `${route.method} ${path}`;
export const schemaOf = (schema: Schema, at: string) => new Describer(() => undefined).describe(schema, at);
function example(schema: Schema | undefined, at: string, whole = true): unknown {
  if (!schema) return undefined;
  const { examples, ...described } = schemaOf(schema, at);
  return exampleOf(described, at, whole);
}

export interface Sample {
  readonly params: Fields;
  readonly query: Fields;
  readonly body: unknown;
}
/** `declared`: the example of the body that it declares, in place of one that is made of its schema. */
export const sampleOf = (served: ServedRoute, whole = true, declared = false): Sample => ({
  params: (example(served.route.params, `${nameOf(served)} params`) ?? {}) as Fields,
  query: (example(served.route.query, `${nameOf(served)} query`, whole) ?? {}) as Fields,
  body: declared ? declaredOf(served) : example(served.route.body, `${nameOf(served)} body`, whole),
});
export const declaredOf = ({ route: { body } }: ServedRoute): unknown =>
  body && (schemaOf(body, 'body')['examples'] as readonly unknown[] | undefined)?.[0];

export function call(
  panel: TestPanel,
  { route, path }: ServedRoute,
  { params, query, body }: Sample,
  headers: Readonly<Record<string, string>> = {},
  anonymous = false,
) {
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  ).toString();
  return panel.call<{ issues: { path: string; message: string }[] } | null>(
    `${filled}${search && `?${search}`}`,
    {
      method: route.method,
      headers,
      anonymous,
      ...(body !== undefined && { body }),
    },
  );
}

export const servedBy = (panel: TestPanel): ServedRoute[] =>
  panel.kernel.listeners.routes().filter(({ route: { listener } }) => listener === 'panel');
/** What destroys comes last, so that the others find something. */
export const harm = ({ route, path }: ServedRoute): number =>
  route.method === 'GET'
    ? 0
    : /del|clear|reset|logout|remove/i.test(path) || route.method === 'DELETE'
      ? 2
      : 1;

/** A panel with what examples name: an inbound, clients, a group, a host group, an API token, a reseller and a node. */
export async function boot(): Promise<TestPanel> {
  const panel = await bootWithoutCore();
  const id = await panel.addInbound();
  await panel.addClient('example', [id]);
  await panel.addClient('ada@example.org', [id], { subId: 'ada', tgId: 7, group: 'family' });
  await panel.get('/panel/api/hosts/add', {
    body: { groupId: 'k3w8z1q0v5r7x2m9', inboundIds: [id], remark: 'CDN' },
  });
  await panel.get('/panel/api/setting/apiTokens/create', { body: { name: 'ci' } });
  await panel.get('/panel/api/x/certificates', {
    body: { names: ['a.site.example'], directory: 'https://acme.example/directory', agreeToTerms: true },
  });
  await panel.get('/panel/api/x/resellers', { body: { admin: 1, inboundIds: [id] } });
  await panel.get('/panel/api/nodes/add', {
    body: { name: 'London', address: 'london.example.com', apiToken: 'its-api-token', enable: false },
  });
  // Its first event makes the first delivery, which fails: no test may call it.
  await panel.get('/panel/api/x/event-callbacks/endpoints', {
    body: { id: 'ep_0123456789abcdef01', url: 'https://shop.example/weir', events: ['token.*'] },
  });
  await panel.get('/panel/api/setting/apiTokens/create', { body: { name: 'shop' } });
  // Else a scan without a list calls well-known servers.
  await panel.get('/panel/api/setting/update', { body: { realityScanCandidates: 'site.example' } });
  return panel;
}
