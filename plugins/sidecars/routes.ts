import { bool, int, list, mapOf, payload, type Route, route, shape, text } from '../../kernel/index.js';
import type { RunningSidecarsApi } from './contract.js';

const Status = shape({
  protocol: text(),
  name: text(),
  inboundIds: list(int()),
  state: text().description('`running`, or `not running: ` and why'),
  pid: int().description('0 while it does not run'),
  since: int().description('Unix ms of its start; 0 while it does not run'),
  ports: mapOf(int()).description('its own ports on 127.0.0.1, by name'),
  live: bool().description('users change while it runs; false: each change restarts it'),
  problem: text().description('what is wrong beside that; empty for nothing'),
});

export const routes = ({ runners }: { runners: RunningSidecarsApi }): readonly Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/x/sidecars',
    name: 'sidecars.list',
    doc: 'The programs that run inbounds in place of the core: one entry for each process. Where several panels share a database, only the one that leads runs them, on its machine, also where each panel has a core of its own; the others answer an empty list.',
    reply: payload(list(Status)),
    handle: () =>
      runners
        .instances()
        .map(({ folder: _private, ...shown }) => ({ ...shown, inboundIds: [...shown.inboundIds] })),
  }),
];
