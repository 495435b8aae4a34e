// The sections about the login, API tokens, settings and the live stream, as the API description has them.
import type { Section } from './asking.js';
import type { Shape } from './shape.js';

const TOKEN = {
  id: 'integer',
  name: 'text',
  enabled: 'boolean',
  createdAt: 'seconds',
} as const satisfies Shape;
const AT = '/panel/api/setting';
const TESTED = { success: 'boolean', msg: 'text' } as const satisfies Shape;

export const ACCESS: Section = {
  'POST /login': { takes: ['username', 'password', 'twoFactorCode'], gives: 'any', open: true },
  'POST /logout': { gives: 'any', open: true },
  // It needs a session, and it stands outside of /panel/api.
  'GET /csrf-token': { gives: 'text', open: true },
  'POST /getTwoFactorEnable': { gives: 'boolean', open: true },
  [`GET ${AT}/apiTokens`]: { gives: [TOKEN] },
  [`POST ${AT}/apiTokens/create`]: { takes: ['name'], gives: { ...TOKEN, token: 'text' } },
  [`POST ${AT}/apiTokens/delete/{id}`]: { gives: 'any' },
  [`POST ${AT}/apiTokens/setEnabled/{id}`]: { takes: ['enabled'], gives: 'any' },
};

export const SETTINGS: Section = {
  [`POST ${AT}/all`]: { gives: 'object' },
  [`POST ${AT}/defaultSettings`]: { gives: 'object' },
  [`POST ${AT}/factoryDefaults`]: { gives: 'object' },
  [`POST ${AT}/update`]: { gives: 'any' },
  [`POST ${AT}/validateRegex`]: { takes: ['regex'], gives: 'any' },
  [`POST ${AT}/updateUser`]: {
    takes: ['oldUsername', 'oldPassword', 'newUsername', 'newPassword'],
    gives: 'any',
  },
  [`POST ${AT}/restartPanel`]: { gives: 'any', status: 202 },
  [`POST ${AT}/testSmtp`]: { gives: { ...TESTED, stage: 'text' }, bare: true },
  [`POST ${AT}/testMsgBot`]: { gives: TESTED, bare: true },
  [`POST ${AT}/testWebhook`]: { gives: TESTED, bare: true },
  [`GET ${AT}/getDefaultJsonConfig`]: { gives: 'any' },
};
