// For watchdogs and load balancers: whether the panel answers, and nothing else.
import { message } from './reply.js';
import { type Route, route } from './route.js';

export const health: Route = route({
  method: 'GET',
  path: '/healthz',
  name: 'system.health',
  auth: 'anyone',
  doc: 'Answers 200 while the panel serves; needs no login and reveals nothing else.',
  reply: message(),
  handle: () => undefined,
});
