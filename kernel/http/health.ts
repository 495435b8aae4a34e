// For watchdogs and load balancers: whether the panel works, and nothing else.
import { kernelErrors } from '../errors/errors.js';
import { message } from './reply.js';
import { type Route, route } from './route.js';

export const health = (isWell: () => boolean): Route =>
  route({
    method: 'GET',
    path: '/healthz',
    anyHost: true,
    name: 'system.health',
    auth: 'anyone',
    doc: 'Answers 200 while the panel works, and 503 while it cannot save; needs no login and reveals nothing else.',
    reply: message(),
    errors: [kernelErrors.DEGRADED],
    handle: () => {
      if (!isWell()) throw kernelErrors.DEGRADED();
    },
  });
