// Updates that the Bot API delivers: a secret path, a secret header, one body within a limit.
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { anything, raw, route, type Route, sameSecret, shape, word } from '../../../kernel/index.js';
import { errors } from '../errors.js';
import { readUpdate } from '../api/update.js';
import type { Bot } from './bot.js';

export const PATH = '/panel/api/x/msg-bot/webhook';
const HEADER = 'x-telegram-bot-api-secret-token';
/** A message of 4,096 characters, each escaped, that answers another one. */
const MOST_BYTES = 256 * 1024;

/** Secrets of a webhook. They follow from the token, so they stay over restarts and change with it. */
export function secretsOf(token: string): { readonly path: string; readonly header: string } {
  const derived = (what: string) => createHmac('sha256', token).update(what).digest('base64url');
  return { path: derived('weir webhook path'), header: derived('weir webhook header') };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw errors.TOO_LARGE();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

export const webhookRoute = (bot: Bot): Route => ({
  ...route({
    method: 'POST',
    path: `${PATH}/{secret}`,
    name: 'msgBot.webhook',
    doc: 'Takes an update from the Bot API. Only with the secret path and the secret header, which nobody else has.',
    auth: 'anyone',
    params: shape({ secret: word().max(128).example('secret') }),
    stream: true,
    body: anything().example({ update_id: 1 }),
    reply: raw('text/plain'),
    errors: [errors.NO_WEBHOOK, errors.TOO_LARGE],
    beforeBody: (input) => {
      const { url, headers } = input;
      const secrets = bot.webhookSecrets;
      const path = url.split('?', 1)[0]?.slice(url.indexOf(PATH) + PATH.length + 1) ?? '';
      const header = headers[HEADER];
      // Both are compared, whatever the first says.
      const isPath = sameSecret(path, secrets?.path ?? '-');
      const isHeader = sameSecret(typeof header === 'string' ? header : '', secrets?.header ?? '-');
      if (!secrets || !isPath || !isHeader) throw errors.NO_WEBHOOK();
    },
    handle: async ({ body }) => {
      const text = (await bodyOf(body as unknown as IncomingMessage)).toString();
      // The Bot API sends again what is not accepted: what cannot be read now cannot be read later.
      await bot.deliver(readUpdate(parsed(text)));
      return '';
    },
  }),
  // The limit of routes without a login is for callers whom nobody knows; `beforeBody` admits nobody else than the Bot API.
  bodyLimit: MOST_BYTES,
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
