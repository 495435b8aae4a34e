// Endpoints that our API has in another shape: each is one or several calls of our routes.
import { kernelErrors, SESSION_COOKIE, type SessionsApi } from '../../kernel/index.js';
import { type ClientRow, type ClientsApi, depletionOf, clientErrors } from '../clients/contract.js';
import type { Input, Values } from './adapted-route.js';
import { clientOf, recordOf } from './bodies.js';
import type { Call } from './names.js';

/** What an endpoint looks things up in. */
export interface Known {
  readonly clients: ClientsApi;
  readonly sessions: SessionsApi;
  readonly now: number;
}
/** One call of ours. */
export interface Step {
  readonly call: Call;
  readonly params?: Values;
  readonly body?: unknown;
}
export interface OldEndpoint {
  /** all routes that it may call; it is served where all of them are */
  readonly needs: readonly Call[];
  /** The calls that it consists of; the reply is that of the last one. */
  readonly steps: (input: Input, known: Known) => readonly Step[];
  /** Returns its `obj` from those of the calls. */
  readonly obj?: (objs: readonly unknown[]) => unknown;
  /** `obj` where there is no such client */
  readonly missing?: unknown;
}

/** Most emails of one bulk call. */
const MOST_EMAILS = 10_000;

/** Not what JavaScript takes for a number as well: `true`, a blank, `0x1`, `[1]`. */
function inboundId(sent: unknown): number {
  const isNumber = typeof sent === 'number' ? Number.isSafeInteger(sent) : /^-?\d{1,15}$/.test(textOf(sent));
  if (!isNumber) throw kernelErrors.INVALID('id must be the number of an inbound', { path: 'id' });
  return Number(sent);
}
const idOf = ({ params }: Input): number => inboundId(params['id']);
/** Stands for all inbounds. */
const ALL = -1;
const isIn = (row: Readonly<ClientRow>, inbound: number): boolean => row.inboundIds.includes(inbound);

/** What an older program calls a client by, besides its email. */
const NAMED_BY = ['email', 'uuid', 'password', 'auth'] as const;
/** To the core UUIDs can be the same that are not. */
const has = ({ uuid }: Readonly<ClientRow>, field: string, value: string): boolean =>
  field !== 'uuid' || uuid === value.toLowerCase();

/** The client of an inbound whose UUID, password or email this is. */
function find(clients: ClientsApi, inbound: number, key: string): Readonly<ClientRow> {
  for (const field of NAMED_BY) {
    const row = clients.owner(field, key);
    if (row && has(row, field, key) && isIn(row, inbound)) return row;
  }
  throw clientErrors.NOT_FOUND(`inbound ${inbound} has no client ${key.slice(0, 80)}`, { path: 'clientId' });
}

/** `{id, settings: '{"clients": […]}'}`: the inbound and the clients that it is about. */
function sent({ body }: Input): { id: number; clients: Values[] } {
  const { id, settings } = recordOf(body) ?? {};
  const list = recordOf(settings)?.['clients'];
  const inbound = inboundId(id);
  if (!Array.isArray(list) || list.length === 0 || list.length > 1000)
    throw kernelErrors.INVALID('settings must be JSON text of an object with 1 to 1000 clients', {
      path: 'settings',
    });
  return { id: inbound, clients: list.map((client) => (recordOf(clientOf(client)) ?? {}) as Values) };
}

/** Inbounds of older panels own their clients; here a client that others have too stays theirs. */
const leave = (row: Readonly<ClientRow>, inbound: number): Step =>
  row.inboundIds.length > 1
    ? {
        call: 'POST /panel/api/clients/{email}/detach',
        params: { email: row.email },
        body: { inboundIds: [inbound] },
      }
    : { call: 'POST /panel/api/clients/del/{email}', params: { email: row.email } };
const LEAVES: readonly Call[] = [
  'POST /panel/api/clients/{email}/detach',
  'POST /panel/api/clients/del/{email}',
];

/** `call` for the emails of these clients, as often as its limit asks for. */
function inBulk(
  rows: Iterable<Readonly<ClientRow>>,
  call: Call,
  takes: (row: Readonly<ClientRow>) => boolean,
): Step[] {
  const emails: string[] = [];
  for (const row of rows) if (takes(row)) emails.push(row.email);
  const steps: Step[] = [];
  for (let i = 0; i < Math.max(1, emails.length); i += MOST_EMAILS)
    steps.push({ call, body: { emails: emails.slice(i, i + MOST_EMAILS) } });
  return steps;
}

const last = (): null => null;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const TAKEN = {
  email: clientErrors.EMAIL_TAKEN,
  subId: clientErrors.SUB_ID_TAKEN,
  uuid: clientErrors.UUID_TAKEN,
  password: clientErrors.PASSWORD_TAKEN,
  auth: clientErrors.AUTH_TAKEN,
} as const;

/** As on their panel, where one that is taken keeps all of them out. */
function refuseTaken(clients: ClientsApi, sent: readonly Values[]): void {
  const seen = new Set<string>();
  for (const client of sent)
    for (const field of Object.keys(TAKEN) as (keyof typeof TAKEN)[]) {
      const value = textOf(client[field] || (field === 'uuid' && client['id']));
      const key = `${field} ${field === 'email' || field === 'uuid' ? value.toLowerCase() : value}`;
      if (value !== '' && (seen.has(key) || clients.owner(field, value)))
        throw TAKEN[field](`${key.slice(0, 80)} is already in use`, { path: `settings.clients.${field}` });
      seen.add(key);
    }
}

export const OLD_ENDPOINTS: Readonly<Partial<Record<Call, OldEndpoint>>> = {
  'GET /logout': {
    needs: ['POST /logout'],
    steps: ({ cookies }, { sessions }) => {
      const _csrf = sessions.csrfOf(cookies[SESSION_COOKIE]);
      return [{ call: 'POST /logout', body: _csrf === undefined ? {} : { _csrf } }];
    },
  },
  'POST /panel/api/inbounds/addClient': {
    needs: ['POST /panel/api/clients/add'],
    steps: (input, { clients: all }) => {
      const { id, clients } = sent(input);
      refuseTaken(all, clients);
      return clients.map((client) => ({
        call: 'POST /panel/api/clients/add',
        body: { client, inboundIds: [id] },
      }));
    },
    obj: last,
  },
  'POST /panel/api/inbounds/updateClient/{clientId}': {
    needs: ['POST /panel/api/clients/update/{email}'],
    steps: (input, { clients: all }) => {
      const { id, clients } = sent(input);
      const { email } = find(all, id, textOf(input.params['clientId']));
      return [{ call: 'POST /panel/api/clients/update/{email}', params: { email }, body: clients[0] }];
    },
  },
  'POST /panel/api/inbounds/{id}/delClient/{clientId}': {
    needs: LEAVES,
    steps: (input, { clients: all }) => [
      leave(find(all, idOf(input), textOf(input.params['clientId'])), idOf(input)),
    ],
  },
  'POST /panel/api/inbounds/{id}/delClientByEmail/{email}': {
    needs: LEAVES,
    steps: (input, { clients: all }) => [
      leave(find(all, idOf(input), textOf(input.params['email'])), idOf(input)),
    ],
  },
  'GET /panel/api/inbounds/getClientTraffics/{email}': {
    needs: ['GET /panel/api/clients/traffic/{email}'],
    steps: ({ params }) => [{ call: 'GET /panel/api/clients/traffic/{email}', params }],
    missing: null,
  },
  'GET /panel/api/inbounds/getClientTrafficsById/{id}': {
    needs: ['GET /panel/api/clients/traffic/{email}'],
    steps: ({ params }, { clients: all }) => {
      const row = all.owner('uuid', textOf(params['id']));
      return row && has(row, 'uuid', textOf(params['id']))
        ? [{ call: 'GET /panel/api/clients/traffic/{email}', params: { email: row.email } }]
        : [];
    },
    obj: (objs) => objs,
  },
  'POST /panel/api/inbounds/resetAllClientTraffics/{id}': {
    needs: ['POST /panel/api/clients/bulkResetTraffic', 'POST /panel/api/clients/resetAllTraffics'],
    steps: (input, { clients: all }) => {
      const id = idOf(input);
      return id === ALL
        ? [{ call: 'POST /panel/api/clients/resetAllTraffics' }]
        : inBulk(all.all(), 'POST /panel/api/clients/bulkResetTraffic', (row) => isIn(row, id));
    },
    obj: last,
  },
  'POST /panel/api/inbounds/delDepletedClients/{id}': {
    needs: ['POST /panel/api/clients/bulkDel', 'POST /panel/api/clients/delDepleted'],
    steps: (input, { clients: all, now }) => {
      const id = idOf(input);
      return id === ALL
        ? [{ call: 'POST /panel/api/clients/delDepleted' }]
        : inBulk(
            all.all(),
            'POST /panel/api/clients/bulkDel',
            (row) => isIn(row, id) && depletionOf(row, now) !== undefined,
          );
    },
    obj: last,
  },
};
