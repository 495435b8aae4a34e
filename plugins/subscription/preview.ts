// What a user agent would get: for admins who write rules, and beside the form of the settings.
import {
  kernelErrors,
  list,
  message,
  openObject,
  optional,
  payload,
  type Route,
  route,
  shape,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { clientErrors } from '../clients/contract.js';
import { settingErrors } from '../settings/contract.js';
import { patternProblem } from './agents/settings.js';
import { LONGEST_AGENT } from './agents/pattern.js';
import { errors } from './errors.js';
import { previewFields, type PreviewNeeds, previewReply } from './preview-reply.js';
import type { PreviewTrial } from './preview-trial.js';

/** The fetch that is previewed. */
const asked = {
  agent: optional(text().max(LONGEST_AGENT)),
  path: optional(word().max(64)).description('name of the format whose path is fetched; the standard one'),
  format: optional(word().max(64)).description('the query of the fetch'),
  email: optional(word()).description('a client, to see its headers and its body'),
};

export const previewRoutes = ({
  previewTrial,
  ...needs
}: PreviewNeeds & { readonly previewTrial: PreviewTrial }): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/setting/subscriptionPreview',
    name: 'settings.subscriptionPreview',
    doc: 'Returns what a user agent gets from the subscription server: by path of a format, `format` of the query, and rules. It registers no device and no fetch.',
    query: shape(asked),
    reply: payload(shape(previewFields)),
    errors: [clientErrors.NOT_FOUND],
    handle: ({ query, host }) => previewReply(needs, query, host),
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/subscription/preview',
    name: 'subscription.preview',
    doc: 'Returns what a user agent would get if these settings were saved. Each is checked as `setting/update` checks it; nothing is stored. Only full admins: with a template of their own, they could read every field of a client.',
    // A repetition shows the settings of its time, and the reply has keys of a client.
    idempotent: false,
    body: shape({
      ...asked,
      settings: withDefault(openObject(), {}).description(
        'the settings that differ from those in force, in the form of `setting/update`',
      ),
    }).example({ email: 'ada@example.org', settings: { remarkTemplate: '{{EMAIL}}' } }),
    reply: payload(
      shape({
        ...previewFields,
        formats: list(word()).description(
          'names of the formats that would be served, the standard one first',
        ),
        without: list(text()).description(
          'names that were sent and that change no preview: of the listener, of its certificate, secrets, and of other plugins',
        ),
        unfetched: list(word()).description(
          'settings that hold the URL of a text which the panel fetches after a save; the preview is without it',
        ),
      }),
    ),
    errors: [clientErrors.NOT_FOUND, errors.PATH_TAKEN, settingErrors.PINNED],
    handle: ({ body: { settings, ...fetched }, host }) => previewTrial.preview(settings, fetched, host),
  }),
  route({
    method: 'POST',
    path: '/panel/api/setting/validateRegex',
    name: 'settings.validateRegex',
    doc: 'Says in `msg` why a pattern of user agents cannot be used; `msg` is empty when it can.',
    body: shape({ regex: text().max(2048) }).example({ regex: '(?i)(clash|mihomo)' }),
    reply: message(),
    handle: ({ body: { regex } }) => {
      const problem = patternProblem(regex);
      if (problem !== undefined) throw kernelErrors.INVALID(problem, { path: 'regex' });
      return '';
    },
  }),
];
