import { int, list, message, optional, payload, raw, route, type Route } from '../../kernel/index.js';
import { shape, text, word } from '../../kernel/index.js';
import type { OtherLoginsApi } from '../access/contract.js';
import { errors } from './errors.js';
import { type Flow, METHOD } from './flow.js';
import type { Unlinking } from './unlinking.js';

const AT = '/panel/api/x/openid';
const Goes = shape({ url: word().description('where the browser goes next, at the provider') });
const NOT_BEGUN = [errors.OFF, errors.INCOMPLETE, errors.PROVIDER_DOWN];

export const routes = ({
  flow,
  unlinking,
  logins,
}: {
  flow: Flow;
  unlinking: Unlinking;
  logins: OtherLoginsApi;
}): Route[] => [
  route({
    method: 'POST',
    path: `${AT}/login`,
    name: 'openid.login',
    auth: 'anyone',
    doc: 'Begins a login at the provider; sets a cookie, with which only this browser can finish it within ten minutes.',
    body: shape({
      returnTo: optional(text().max(1000)).description('path of the page to show after the login'),
    }).example({ returnTo: '/clients' }),
    reply: payload(Goes),
    errors: NOT_BEGUN,
    beforeBody: (input) => logins.refuseBlocked(METHOD, input),
    handle: async (input) => ({ url: await flow.beginLogin(input.body.returnTo ?? '', input) }),
  }),
  route({
    method: 'POST',
    path: `${AT}/link`,
    name: 'openid.link',
    auth: 'session',
    idempotent: false,
    doc: 'Begins to link an account of the provider to the admin of this session.',
    body: shape({
      password: word().max(1024).description('of the admin'),
      twoFactorCode: optional(text().max(16)).description('of the authenticator, or a recovery code'),
    }).example({ password: 'correct horse battery' }),
    reply: payload(Goes),
    errors: NOT_BEGUN,
    handle: async (input) => ({ url: await flow.beginLink(input.body, input) }),
  }),
  route({
    method: 'GET',
    path: `${AT}/callback`,
    name: 'openid.callback',
    auth: 'anyone',
    doc: 'Where the provider sends the browser back; leads it to the web page, with the code of an error in `trouble` or `openid`.',
    reply: raw('text/plain'),
    handle: (input) => flow.finish(input),
  }),
  route({
    method: 'GET',
    path: `${AT}/links`,
    name: 'openid.links.list',
    doc: 'Accounts of providers that are linked to admins, for an admin with a role the own ones.',
    reply: payload(
      list(
        shape({
          id: word(),
          username: text().description('of the admin'),
          issuer: text(),
          subject: text().description('id of the account at the issuer'),
          account: text().description('name of the account when it was linked, for display'),
          linkedAt: int().description('Unix ms'),
        }),
      ),
    ),
    handle: ({ who }) => unlinking.shownTo(who).map(({ adminId: _, ...link }) => link),
  }),
  route({
    method: 'POST',
    path: `${AT}/links/{id}/del`,
    name: 'openid.links.delete',
    doc: 'Ends a link, and the other sessions of its admin.',
    params: shape({ id: word().pattern(/^[0-9a-f]{64}$/, 'id of a link') }),
    reply: message(),
    errors: [errors.LINK_NOT_FOUND],
    handle: ({ params, who }) => unlinking.unlink(params.id, who),
  }),
];
