// Posts messages to the channel over the REST API of the chat.
import { type LiveSettings, messageOf } from '../../kernel/index.js';
import type { OutgoingAccess, OutgoingApi, OutgoingFetch } from '../outgoing/contract.js';
import { type Embed, fitted } from './embed.js';
import type { WebhookSettings } from './settings.js';

const BASE = 'https://discord.com/api/v10';
const AGENT = 'DiscordBot (https://www.npmjs.com/package/@weir-panel/weir, 0.1.0)';
const CALL_MS = 10_000;
const FILES_MS = 60_000;
const LONGEST_REPLY = 64 * 1024;
const LONGEST_REASON = 300;
const LONGEST_WAIT_MS = 3_600_000;

/** Why a message was not delivered; the queue of notifications reads the members. */
export class ChatError extends Error {
  override readonly name = 'ChatError';
  /** when the chat wants the next attempt */
  readonly retryAfterMs?: number;
  /** no attempt will do better */
  readonly isPermanent?: boolean;

  constructor(
    message: string,
    { retryAfterMs, isPermanent }: { retryAfterMs?: number; isPermanent?: boolean } = {},
  ) {
    super(message);
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    if (isPermanent !== undefined) this.isPermanent = isPermanent;
  }
}

export interface ChatFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}
export interface Target {
  readonly token: string;
  readonly channelId: string;
}

export class ChatCall {
  readonly #fetch: OutgoingFetch;
  readonly #settings: LiveSettings<WebhookSettings>;
  readonly access: OutgoingAccess = {
    hosts: ['discord.com'],
    limits: {
      connectMs: CALL_MS,
      firstByteMs: CALL_MS,
      wholeMs: CALL_MS,
      maxBytes: LONGEST_REPLY,
      redirects: 0,
    },
  };

  constructor({
    outgoing,
    settings,
  }: {
    outgoing: OutgoingApi;
    settings: LiveSettings<WebhookSettings>;
  }) {
    this.#fetch = outgoing.for(this.access);
    this.#settings = settings;
  }

  /** Whether token and channel are set. */
  get isSetUp(): boolean {
    const { webhookToken, webhookChannelId } = this.#settings.read();
    return webhookToken !== '' && webhookChannelId !== '';
  }

  /** Rejects with a ChatError, or with the reason of the signal. */
  async post(
    embed: Embed,
    {
      files = [],
      signal,
      target,
    }: { files?: readonly ChatFile[]; signal?: AbortSignal; target?: Target } = {},
  ): Promise<void> {
    const { webhookToken, webhookChannelId } = this.#settings.read();
    const token = (target?.token || webhookToken).replace(/^Bot /, '');
    const channelId = target?.channelId || webhookChannelId;
    if (token === '' || channelId === '')
      throw new ChatError('the settings webhookToken and webhookChannelId are needed', { isPermanent: true });
    // Names of clients and inbounds must not call anybody in the chat.
    const content = JSON.stringify({ embeds: [fitted(embed)], allowed_mentions: { parse: [] } });
    const [body, type] =
      files.length === 0 ? [content, 'application/json'] : [formOf(content, files), undefined];
    const reply = await this.#send(`${BASE}/channels/${channelId}/messages`, token, body, type, signal);
    const text = await reply.text().catch(() => '');
    if (!reply.ok) throw failureOf(reply.status, reply.headers.get('retry-after'), text);
  }

  async #send(
    url: string,
    token: string,
    body: string | FormData,
    type: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const ms = typeof body === 'string' ? CALL_MS : FILES_MS;
    try {
      return await this.#fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bot ${token}`,
          'user-agent': AGENT,
          ...(type && { 'content-type': type }),
        },
        body,
        redirect: 'error',
        limits: { firstByteMs: ms, wholeMs: ms },
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ChatError(messageOf(error));
    }
  }
}

function formOf(content: string, files: readonly ChatFile[]): FormData {
  const form = new FormData();
  form.append('payload_json', content);
  for (const [i, { name, bytes }] of files.entries())
    form.append(`files[${i}]`, new Blob([bytes as Uint8Array<ArrayBuffer>]), name);
  return form;
}

/** What the chat says, in one line. */
function reasonOf(text: string): string {
  let said: unknown;
  try {
    said = (JSON.parse(text) as { message?: unknown } | null)?.message;
  } catch {
    said = undefined;
  }
  const reason = typeof said === 'string' ? said : text;
  return reason
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST_REASON);
}

/** `retry_after` of the body, in seconds with fractions; else the header. */
function waitOf(header: string | null, text: string): number {
  let asked = Number(header ?? Number.NaN);
  try {
    const { retry_after } = JSON.parse(text) as { retry_after?: unknown };
    if (typeof retry_after === 'number') asked = retry_after;
  } catch {
    // Another server on the way has answered.
  }
  const ms = Math.ceil(asked * 1_000);
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, LONGEST_WAIT_MS) : 5_000;
}

function failureOf(status: number, retryAfter: string | null, text: string): ChatError {
  const said = reasonOf(text);
  const because = said === '' ? '' : `: ${said}`;
  if (status === 400)
    return new ChatError(`the chat refuses the message (400)${because}`, { isPermanent: true });
  if (status === 401)
    return new ChatError('the chat does not accept the token (401); set webhookToken', { isPermanent: true });
  if (status === 403)
    return new ChatError(
      `the bot may not write to this channel (403)${because}; invite it, and let it send messages, embeds and files`,
      { isPermanent: true },
    );
  if (status === 404)
    return new ChatError('the chat has no channel with this id (404); set webhookChannelId', {
      isPermanent: true,
    });
  if (status === 413)
    return new ChatError('the file is larger than the chat takes (413)', { isPermanent: true });
  if (status === 429) {
    const retryAfterMs = waitOf(retryAfter, text);
    return new ChatError(
      `the chat asks for fewer messages (429); the next one may be sent in ${retryAfterMs} ms`,
      {
        retryAfterMs,
      },
    );
  }
  return new ChatError(`the chat answered (${status})${because}`);
}
