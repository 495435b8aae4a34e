import {
  bool,
  int,
  list,
  message,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  type Principal,
} from '../../../kernel/index.js';
import { errors } from '../errors.js';
import type { NodeStore } from '../node-store.js';
import type { AuthorityStore } from './authority-store.js';
import type { ClientCertificates } from './client-certificates.js';
import { LONGEST_BUNDLE, type TrustedCentrals } from './trusted-centrals.js';

interface Scope {
  readonly authorities: AuthorityStore;
  readonly certificates: ClientCertificates;
  readonly centrals: TrustedCentrals;
  readonly store: NodeStore;
}
const OWN = '/panel/api/x/nodes/mtls';
const Bundle = shape({ caCert: text().description('PEM') });

export const mtlsRoutes = ({ authorities, certificates, centrals, store }: Scope): Route[] => {
  const bundleFor = async (who: Principal): Promise<{ caCert: string }> => {
    await authorities.mint(who);
    return { caCert: authorities.bundle() };
  };
  /** Names of enabled nodes whose last call worked with the previous authority only. */
  const behind = (): string[] => {
    const ids = new Set(certificates.stillOnPrevious());
    return store
      .list()
      .filter(({ id, enable, tlsVerifyMode }) => enable && tlsVerifyMode === 'mtls' && ids.has(id))
      .map(({ name }) => name);
  };
  return [
    route({
      method: 'POST',
      path: '/panel/api/nodes/mtls/ca',
      name: 'nodes.mtls.ca',
      doc: 'The authority of this panel, for nodes to trust; the first call creates it. While it changes, both: the previous and the new one.',
      reply: payload(Bundle),
      handle: ({ who }) => bundleFor(who),
    }),
    route({
      method: 'POST',
      path: '/panel/api/nodes/mtls/trustCA',
      name: 'nodes.mtls.trustCa',
      form: true,
      doc: 'Replaces the authorities of central panels that this panel trusts as a node, at once. A central panel with a certificate of one of them may call what it needs without an API token. Blank: none.',
      body: shape({ caCert: text().max(LONGEST_BUNDLE) }).example({ caCert: '' }),
      reply: message(),
      errors: [errors.BAD_BUNDLE],
      handle: ({ body, who }) => centrals.trust(body.caCert, who),
    }),
    route({
      method: 'GET',
      path: OWN,
      name: 'nodes.mtls.state',
      doc: 'The authorities of this panel as a central, the newest first, and those that it trusts as a node.',
      reply: payload(
        shape({
          authorities: list(
            shape({ id: int(), caCert: text(), createdAt: int().description('Unix seconds') }),
          ),
          nodesOnPrevious: list(text()).description(
            'names of nodes that do not trust the newest authority yet',
          ),
          trusted: list(shape({ subject: text(), sha256: text(), validTo: text() })),
        }),
      ),
      handle: () => ({
        authorities: authorities.list().map(({ id, caCert, createdAt }) => ({ id, caCert, createdAt })),
        nodesOnPrevious: behind(),
        trusted: centrals.list().map(({ subject, fingerprint256, validTo }) => ({
          subject: subject.replaceAll('\n', ', '),
          sha256: fingerprint256,
          validTo,
        })),
      }),
    }),
    route({
      method: 'POST',
      path: `${OWN}/rotate`,
      name: 'nodes.mtls.rotate',
      doc: 'Creates a new authority beside the present one, and returns both. Let all nodes trust both, then retire the previous one; until then each node gets the certificate that it trusts.',
      reply: payload(Bundle),
      errors: [errors.NO_AUTHORITY, errors.ROTATING],
      handle: async ({ who }) => {
        await authorities.rotate(who);
        certificates.tryNewest();
        return { caCert: authorities.bundle() };
      },
    }),
    route({
      method: 'POST',
      path: `${OWN}/retire`,
      name: 'nodes.mtls.retire',
      doc: 'Deletes the previous authority. Refused while a node is known to trust only that one, unless `force`.',
      body: shape({ force: optional(bool()) }).example({ force: false }),
      reply: payload(Bundle),
      errors: [errors.NOT_ROTATING, errors.STILL_USED],
      handle: async ({ body, who }) => {
        const names = behind();
        if (names.length > 0 && !body.force)
          throw errors.STILL_USED(
            `these nodes do not trust the new authority yet: ${names.slice(0, 20).join(', ')}; give them the present bundle (nodes/mtls/ca)`,
          );
        await authorities.retire(who);
        return { caCert: authorities.bundle() };
      },
    }),
  ];
};
