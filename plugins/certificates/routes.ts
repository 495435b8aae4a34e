import { list, message, once, payload, route, type Route, withMessage } from '../../kernel/index.js';
import { holdingOpen } from '../outgoing/contract.js';
import type { CertificateService } from './certificate-service.js';
import { type Certificate, certificateVersion } from './certificate-store.js';
import { errors } from './errors.js';
import {
  CertificateId,
  CertificateReply,
  OrderReply,
  SentCertificate,
  SentRemoval,
  SentUsesChange,
} from './fields.js';

const PATH = '/panel/api/x/certificates';

export const routes = ({ service }: { service: CertificateService }): Route[] => [
  route({
    method: 'GET',
    path: PATH,
    name: 'certificates.list',
    doc: 'The certificates that an authority issues for this panel, with their files, their dates and the last error.',
    reply: payload(list(CertificateReply)),
    handle: () => service.list(),
  }),
  route({
    method: 'POST',
    path: PATH,
    name: 'certificates.add',
    doc: 'Adds a certificate. It is ordered within a minute, or by `issue`.',
    body: SentCertificate,
    reply: payload(CertificateReply),
    errors: [errors.NAMES, errors.DIRECTORY, errors.TERMS, errors.USE, errors.TAKEN, errors.TOO_MANY],
    handle: async (input) => {
      const added = await once<Certificate>(input, (note) => service.add(input.body, input.who, note));
      return withMessage('certificate added; it is ordered within a minute', service.shown(added));
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/{id}/issue`,
    name: 'certificates.issue',
    doc: 'Orders the certificate now and waits for it, also when the present one is still good. If that fails, the present one stays in use.',
    params: CertificateId,
    reply: payload(CertificateReply),
    errors: [errors.NOT_FOUND, errors.TOO_SOON, errors.NOT_ISSUED],
    handle: async ({ params: { id }, who, reply }) => {
      const { certificate, note } = await holdingOpen(reply.progressed, () => service.issue(id, who));
      return withMessage(note || 'certificate issued', service.shown(certificate));
    },
  }),
  certificateVersion.guarded(
    route({
      method: 'POST',
      path: `${PATH}/{id}/uses`,
      name: 'certificates.uses',
      doc: 'Replaces where the certificate is used. What is left out goes on with its files until it gets others; the panel serves plain HTTP from its next start on.',
      params: CertificateId,
      body: SentUsesChange,
      reply: payload(CertificateReply),
      errors: [errors.NOT_FOUND, errors.USE, errors.TAKEN],
      handle: async ({ params: { id }, body, who, reply }) => {
        const { certificate, note } = await holdingOpen(reply.progressed, () =>
          service.changeUses(id, body.uses, who),
        );
        return withMessage(note || 'uses changed', service.shown(certificate));
      },
    }),
    ({ id }: { readonly id: number }) => service.get(id),
  ),
  route({
    method: 'GET',
    path: `${PATH}/{id}/orders`,
    name: 'certificates.orders',
    doc: 'Orders for these names within the last eight days, the newest first.',
    params: CertificateId,
    reply: payload(list(OrderReply)),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { id } }) =>
      (await service.orders(id)).map(({ state, url, problem, startedAt, endedAt }) => ({
        state,
        url,
        problem,
        startedAt,
        endedAt,
      })),
  }),
  certificateVersion.guarded(
    route({
      method: 'POST',
      path: `${PATH}/{id}/del`,
      name: 'certificates.remove',
      doc: 'Removes a certificate that nothing uses, with its files.',
      params: CertificateId,
      body: SentRemoval,
      reply: message(),
      errors: [errors.NOT_FOUND, errors.IN_USE, errors.NOT_REVOKED],
      handle: ({ params: { id }, body, who, reply }) =>
        holdingOpen(reply.progressed, () => service.remove(id, body.revoke ?? false, who)),
    }),
    ({ id }: { readonly id: number }) => service.get(id),
  ),
];
