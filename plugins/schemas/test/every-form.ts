// A new form of each protocol over each network and security that it claims, filled in as a page would, and sent.
import type { ExecutionContext } from 'ava';
import { freePort, selfSigned, type TestPanel } from '../../../test/harness/index.js';
import {
  faultsOf,
  inboundFormOf,
  newForm,
  protocolsOf,
  type TransportForms,
  transportsOf,
  type Words,
} from './forms.js';

type Values = Record<string, unknown>;
const { cert, key } = selfSigned();
/** What only a person can say. */
const SAID: Readonly<Record<string, Values>> = {
  tls: { certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }] },
  reality: { target: 'example.com:443', serverNames: ['example.com'] },
};

function put(values: Values, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at = values;
  for (const name of keys) at = (at[name] ??= {}) as Values;
  at[last] = value;
}

/** Calls a generator, and returns what it fills. */
export async function generate(
  panel: TestPanel,
  generator: NonNullable<Words['generator']>,
  beside: Values,
): Promise<Values> {
  const { method, path, send = {}, choose, fills } = generator;
  const sent = Object.fromEntries(Object.entries(send).map(([name, field]) => [name, String(beside[field])]));
  const reply = await panel.get<Values>(
    method === 'GET' ? `${path}?${new URLSearchParams(sent).toString()}` : path,
    method === 'GET' ? {} : { body: sent },
  );
  const [item = {}] = choose ? (reply[choose.from] as Values[]) : [reply];
  const made: Values = {};
  for (const [field, name] of Object.entries(fills)) put(made, field, item[name]);
  return made;
}

/** The values of a new form of a stream; generators make what is required. */
export async function newStream(
  panel: TestPanel,
  transports: TransportForms,
  network: string,
  security: string,
): Promise<Values> {
  const transport = transports.networks.find(({ name }) => name === network);
  const below = transports.securities.find(({ name }) => name === security);
  const stream: Values = { network, security };
  if (transport) stream[transport.key] = newForm(transport.settings);
  if (below?.settings) {
    const values: Values = { ...newForm(below.settings), ...SAID[security] };
    for (const name of below.settings.required ?? []) {
      const { generator } = below.settings.properties?.[name]?.['x-weir'] ?? {};
      if (generator && values[name] === undefined)
        Object.assign(values, await generate(panel, generator, values));
    }
    stream[below.key] = values;
  }
  return stream;
}

/** Resolves with the number of inbounds that were added. */
export async function addEvery(
  t: ExecutionContext,
  panel: TestPanel,
  isTried = (_protocol: string): boolean => true,
): Promise<number> {
  const [protocols, transports] = [await protocolsOf(panel), await transportsOf(panel)];
  const inbound = await inboundFormOf(panel);
  let count = 0;
  for (const { name: protocol, streams, settings: form, runBy } of protocols) {
    if (!isTried(protocol)) continue;
    const settings = newForm(form);
    t.deepEqual(faultsOf(form, settings), [], `settings of ${protocol}`);
    const pairs = streams.flatMap(({ network, securities }) =>
      securities.map((security) => [network, security] as const),
    );
    for (const [network, security] of pairs.length > 0 ? pairs : ([['', '']] as const)) {
      const where = `${protocol} over ${network} ${security}`;
      const streamSettings = network ? await newStream(panel, transports, network, security) : {};
      t.deepEqual(faultsOf(transports.streamSettings, streamSettings), [], where);
      const sniffing = newForm(transports.sniffing);
      const own = { ...newForm(inbound), protocol, port: await freePort(), listen: '127.0.0.1' };
      t.deepEqual(faultsOf(inbound, own), [], where);
      const answer = await panel.call<{ id: number }>('/panel/api/inbounds/add', {
        body: {
          ...{ ...own, settings, streamSettings },
          ...(runBy === 'core' && { sniffing }),
        },
      });
      t.is(answer.status, 200, `${where}: ${answer.text}`);
      await panel.call(`/panel/api/inbounds/del/${answer.body.obj?.id}`, { method: 'POST' });
      count++;
    }
  }
  return count;
}
