// The actions of the endpoint: which keys of the body each reads, and what it does.
import {
  custom,
  kernelErrors,
  lenientInt,
  optional,
  type Principal,
  shape,
  type Static,
  text,
} from '../../kernel/index.js';
import { wireguardKey } from '../core-template/contract.js';
import type { Done, Provider } from './provider.js';
import { TOKEN } from './settings.js';

/** The id of a country, as a number or as its digits; 0 is none. */
export const CountryId = () => lenientInt().min(0).max(999_999_999);

export const ActionBody = shape({
  countryId: optional(CountryId()).description('servers: the id of a country, from countries').example(81),
  token: optional(text().pattern(TOKEN, 'token without blanks, at most 512 characters'))
    .description('reg: an access token of the account')
    .example('e9f2ab3c'),
  key: optional(
    custom<string>(
      text().custom((value: string) => {
        if (value !== '' && wireguardKey(value) === undefined)
          throw new Error('it must be a key of WireGuard: 32 bytes in base64');
        return value;
      }),
    ),
  )
    .description('setKey: the private key')
    .example('0A9ag3ZLVuYIpuPk8pgJqsF0YqCqVZTNG0PnhT7w6Vk='),
});
export type Sent = Static<typeof ActionBody>;

interface Call {
  readonly provider: Provider;
  readonly sent: Sent;
  readonly who: Principal;
}
interface Action {
  readonly reads: readonly (keyof Sent)[];
  readonly run: (call: Call) => Promise<Done>;
}

function required(sent: Sent, name: keyof Sent, action: string): string {
  const value = String(sent[name] || '');
  if (value === '')
    throw kernelErrors.INVALID(`${name} is required for the action ${action}`, { path: name });
  return value;
}

export const ACTIONS = {
  data: {
    reads: [],
    run: async ({ provider: { stored } }) => ({
      text: stored,
      said: stored === '' ? 'there is no key' : 'what is stored',
    }),
  },
  countries: { reads: [], run: ({ provider }) => provider.countries() },
  servers: {
    reads: ['countryId'],
    run: async ({ provider, sent }) => provider.servers(required(sent, 'countryId', 'servers')),
  },
  reg: {
    reads: ['token'],
    run: async ({ provider, sent, who }) => provider.register(required(sent, 'token', 'reg'), who),
  },
  setKey: {
    reads: ['key'],
    run: async ({ provider, sent, who }) =>
      provider.setKey(wireguardKey(required(sent, 'key', 'setKey')) ?? '', who),
  },
  del: { reads: [], run: ({ provider, who }) => provider.delete(who) },
} as const satisfies Record<string, Action>;
export type ActionName = keyof typeof ACTIONS;

/** Runs an action. `ignored` gets the keys with a value that it does not read. */
export function runAction(name: ActionName, call: Call, ignored: Set<string>): Promise<Done> {
  const { reads, run }: Action = ACTIONS[name];
  for (const [key, value] of Object.entries(call.sent))
    if (value !== '' && value !== 0 && !reads.includes(key as keyof Sent)) ignored.add(key);
  return run(call);
}
