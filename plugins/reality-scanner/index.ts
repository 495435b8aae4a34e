// Looks for servers that REALITY can pretend to be.
import Joi from 'joi';
import {
  bool,
  contribute,
  custom,
  definePlugin,
  lenientInt,
  list,
  maybe,
  optional,
  payload,
  route,
  shape,
  singleton,
  text,
  withDefault,
  withMessage,
} from '../../kernel/index.js';
import { holdingOpen, Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { errors } from './errors.js';
import type { HeaderVersion } from './proxy-header.js';
import { ScanResult } from './scan-result.js';
import { RealityScanner } from './scanner.js';
import { scannerSettings } from './settings.js';
import { LONGEST_TARGET } from './target.js';
import { entriesIn, LONGEST_LIST, MOST_TARGETS } from './task-list.js';

const entry = () => text().max(LONGEST_TARGET);

export default definePlugin({
  name: 'reality-scanner',
  version: '0.1.0',
  api: 1,
  about: 'Looks for servers that REALITY can pretend to be.',
  uses: { outgoing: maybe(Outgoing) },
  settings: scannerSettings,
  services: { scanner: singleton(RealityScanner) },
  contributes: ({ scanner }) => [contribute(OutgoingHosts, scanner.access)],
  routes: ({ scanner }) => [
    route({
      method: 'POST',
      path: '/panel/api/server/scanRealityTarget',
      name: 'server.scanRealityTarget',
      doc: 'Looks whether REALITY can use a server as its target. A server that fails is a result too: `reason` says why.',
      form: true,
      body: shape({
        target: entry().description('host or host:port; without a port, 443'),
        sni: optional(entry()).description(
          'the name to ask for; by default the host. For an address without it, the name in the certificate counts',
        ),
        xver: withDefault(lenientInt().min(0).max(2), 0).description(
          'version of the PROXY protocol that the server expects, as `xver` of REALITY; 0: none',
        ),
        allowPrivate: withDefault(bool(), false).description('true: also at an address that is not public'),
      }).example({ target: 'site.example:8443' }),
      reply: payload(ScanResult),
      errors: [errors.TARGET, errors.BUSY, errors.NO_OUTGOING],
      handle: ({ body: { target, sni = '', xver, allowPrivate }, signal, reply }) =>
        holdingOpen(reply.progressed, () =>
          scanner.one(target, { sni, header: xver as HeaderVersion, allowPrivate }, signal),
        ),
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/scanRealityTargets',
      name: 'server.scanRealityTargets',
      doc: `Does the same for up to ${MOST_TARGETS} servers, the best first; an entry that is not valid is a result with a reason. Networks count with their first 256 addresses, of which those with a TLS server are shown. It may take minutes.`,
      form: true,
      body: optional(
        shape({
          targets: optional(
            custom<string | readonly string[]>(
              Joi.alternatives(text().max(LONGEST_LIST), list(entry()).max(MOST_TARGETS)),
            ),
          ).description(
            'host:port, addresses and networks, as a list or comma-separated; blank: those of the setting realityScanCandidates',
          ),
        }),
      ).example({ targets: 'site.example,www.site.example:8443' }),
      reply: payload(list(ScanResult)),
      errors: [errors.TOO_MANY, errors.BUSY, errors.NO_OUTGOING],
      handle: async ({ body, signal, reply: { progressed } }) => {
        const { targets = '' } = body ?? {};
        const given =
          typeof targets === 'string'
            ? entriesIn(targets)
            : targets.map((each) => each.trim()).filter(Boolean);
        const { results, notes } = await scanner.many(given, { signal, progressed });
        return notes.length > 0 ? withMessage(notes.join('. '), [...results]) : [...results];
      },
    }),
  ],
});
