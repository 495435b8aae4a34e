import {
  int,
  list,
  optional,
  payload,
  type Route,
  route,
  shape,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { clientErrors, type ClientsApi } from '../clients/contract.js';
import { nameOfDay } from '../time-series/contract.js';
import { errors } from './errors.js';
import { MOST_DAYS } from './settings.js';
import type { UsageDays } from './usage-days.js';

const DAY_MS = 86_400_000;
const SHOWN_DAYS = 30;

const numberOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;

/** A date that the calendar has. */
const day = () =>
  word()
    .pattern(/^\d{4}-\d\d-\d\d$/, 'date, like 2026-01-31')
    .custom((sent: string, state) =>
      numberOf(sent) >= 0 && nameOfDay(numberOf(sent)) === sent
        ? sent
        : state.error('any.custom', { error: new Error('the calendar has no such day from 1970 on') }),
    )
    .example('2026-01-31');

const bytes = { up: int().min(0), down: int().min(0) };

export const routes = ({
  days,
  clients,
}: {
  readonly days: UsageDays;
  readonly clients: ClientsApi;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/x/usage-by-day/clients/{email}',
    name: 'usageByDay.client',
    doc: 'Bytes of one client on each day, oldest first, by the calendar of the setting timeLocation. Without `from` and `to`, the last thirty days. A minute may pass until bytes appear.',
    params: shape({ email: word() }),
    query: shape({ from: optional(day()), to: optional(day()) }),
    reply: payload(list(shape({ day: text(), ...bytes }))),
    errors: [clientErrors.NOT_FOUND, errors.NO_RANGE],
    handle: async ({ params, query }) => {
      const client = clients.byEmail(params.email);
      if (!client) throw clientErrors.NOT_FOUND(undefined, { path: 'email' });
      const to = query.to === undefined ? days.today : numberOf(query.to);
      const from = query.from === undefined ? to - SHOWN_DAYS + 1 : numberOf(query.from);
      if (from > to || to - from >= MOST_DAYS)
        throw errors.NO_RANGE(undefined, { path: query.from === undefined ? 'to' : 'from' });
      const used = await days.ofClient(client.id, from, to);
      return Array.from({ length: to - from + 1 }, (_, i) => ({
        day: nameOfDay(from + i),
        ...(used.get(from + i) ?? { up: 0, down: 0 }),
      }));
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/usage-by-day/top',
    name: 'usageByDay.top',
    doc: 'The clients that moved most bytes on a day, today without `day`: those with most up and down first; beside them how many clients moved bytes, and the bytes of all. Deleted clients are not counted.',
    query: shape({ day: optional(day()), limit: withDefault(int().min(1).max(1000), 100) }),
    reply: payload(
      shape({
        day: text(),
        clients: int().min(0),
        ...bytes,
        top: list(shape({ id: int(), email: text(), ...bytes })),
      }),
    ),
    handle: async ({ query }) => {
      const shown = query.day === undefined ? days.today : numberOf(query.day);
      const { top, ...sums } = await days.ofDay(shown, query.limit);
      return {
        day: nameOfDay(shown),
        ...sums,
        top: top.flatMap(({ id, up, down }) => {
          const email = clients.byId(id)?.email;
          return email === undefined ? [] : [{ id, email, up, down }];
        }),
      };
    },
  }),
];
