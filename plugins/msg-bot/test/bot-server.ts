// A stand-in for the Bot API: an HTTP server with the methods that the bot calls, and replies in the shapes of the API's
// documentation (https://core.telegram.org/bots/api). It is as strict as the real one about what it is sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { Busboy } from '@fastify/busboy';
import { entityLength } from './entities.js';

export const TOKEN = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0';
const BOT_ID = 123_456_789;

export interface Call {
  readonly method: string;
  readonly token: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, { readonly name: string; readonly bytes: Buffer }>>;
}
export interface Sent {
  readonly chat: number;
  readonly messageId: number;
  text: string;
  buttons: { text: string; data: string }[];
}
interface Reply {
  readonly status: number;
  readonly body: object;
}
/** Takes over the reply: true when it has written one, or will. */
export type Fault = (call: Call, response: ServerResponse) => boolean;

const ok = (result: unknown): Reply => ({ status: 200, body: { ok: true, result } });
export const refusal = (code: number, description: string, parameters?: object): Reply => ({
  status: code,
  body: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
});
const CONFLICT = refusal(
  409,
  'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
);

export class BotServer {
  readonly #server: Server;
  readonly tokens = new Set([TOKEN]);
  /** chats that the bot may write to */
  readonly chats = new Set<number>();
  readonly blocked = new Set<number>();
  readonly calls: Call[] = [];
  readonly sent: Sent[] = [];
  /** the texts with which buttons were answered */
  readonly notices: string[] = [];
  readonly files: { chat: number; name: string; bytes: Buffer; caption: string; kind: string }[] = [];
  webhook = { url: '', secret: '' };
  fault: Fault | undefined;
  #updates: Record<string, unknown>[] = [];
  #nextUpdate = 1_000;
  #nextMessage = 1;
  #poll: { respond: (reply: Reply) => void } | undefined;

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(t: { teardown(run: () => unknown): void }): Promise<BotServer> {
    const server = new BotServer();
    await new Promise<void>((done) => void server.#server.listen(0, '127.0.0.1', done));
    t.teardown(() => server.stop());
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  /** the highest id that was given to an update */
  get lastUpdate(): number {
    return this.#nextUpdate - 1;
  }
  set firstUpdate(id: number) {
    this.#nextUpdate = id;
  }
  /** updates that no offset has confirmed yet */
  get unconfirmed(): number {
    return this.#updates.length;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  texts(chat: number): string[] {
    return this.sent.filter((sent) => sent.chat === chat).map(({ text }) => text);
  }

  last(chat: number): Sent | undefined {
    return this.sent.filter((sent) => sent.chat === chat).at(-1);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    const call = { method, token, ...(await bodyOf(request)) };
    this.calls.push(call);
    if (this.fault?.(call, response)) return;
    const respond = ({ status, body }: Reply): void => {
      if (response.destroyed) return;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (!this.tokens.has(token)) return respond(refusal(401, 'Unauthorized'));
    if (method === 'getUpdates') return this.#getUpdates(call.body, respond, response);
    respond(this.#answer(call));
  }

  #getUpdates(body: Call['body'], respond: (reply: Reply) => void, response: ServerResponse): void {
    if (this.webhook.url !== '') {
      respond(
        refusal(
          409,
          "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        ),
      );
      return;
    }
    this.#poll?.respond(CONFLICT);
    const offset = Number(body['offset'] ?? 0);
    if (offset > 0) this.#updates = this.#updates.filter((update) => Number(update['update_id']) >= offset);
    const limit = Number(body['limit'] ?? 100);
    const poll = {
      respond: (reply: Reply) => {
        clearTimeout(timer);
        if (this.#poll === poll) this.#poll = undefined;
        respond(reply);
      },
      limit,
    };
    const timer = setTimeout(() => poll.respond(ok([])), Number(body['timeout'] ?? 0) * 1_000);
    this.#poll = poll;
    if (this.#updates.length > 0) poll.respond(ok(this.#updates.slice(0, limit)));
    response.once('close', () => {
      clearTimeout(timer);
      if (this.#poll === poll) this.#poll = undefined;
    });
  }

  #answer({ method, body, files }: Call): Reply {
    const chat = Number(body['chat_id']);
    const problem = body['chat_id'] === undefined ? undefined : this.#chatProblem(chat);
    switch (method) {
      case 'getMe':
        return ok({
          id: BOT_ID,
          is_bot: true,
          first_name: 'Weir',
          username: 'weir_test_bot',
          can_join_groups: true,
        });
      case 'setWebhook':
        this.webhook = { url: String(body['url']), secret: String(body['secret_token']) };
        return ok(true);
      case 'deleteWebhook':
        this.webhook = { url: '', secret: '' };
        return ok(true);
      case 'setMyCommands':
        return ok(true);
      case 'answerCallbackQuery':
        this.notices.push(String(body['text'] ?? ''));
        return ok(true);
      case 'sendMessage':
      case 'editMessageText':
        return problem ?? this.#message(method, chat, body);
      case 'sendDocument':
      case 'sendPhoto': {
        if (problem) return problem;
        const kind = method === 'sendPhoto' ? 'photo' : 'document';
        const [file] = Object.values(files);
        if (!file) return refusal(400, `Bad Request: there is no ${kind} in the request`);
        this.files.push({ chat, kind, caption: String(body['caption'] ?? ''), ...file });
        return ok({ message_id: this.#nextMessage++, chat: { id: chat, type: 'private' }, date: 1 });
      }
      default:
        return refusal(404, 'Not Found');
    }
  }

  #chatProblem(chat: number): Reply | undefined {
    if (this.blocked.has(chat)) return refusal(403, 'Forbidden: bot was blocked by the user');
    return this.chats.has(chat) ? undefined : refusal(400, 'Bad Request: chat not found');
  }

  #message(method: string, chat: number, body: Call['body']): Reply {
    const text = String(body['text'] ?? '');
    const length = entityLength(text);
    if (typeof length === 'string') return refusal(400, `Bad Request: can't parse entities: ${length}`);
    if (length === 0) return refusal(400, 'Bad Request: message text is empty');
    if (length > 4_096) return refusal(400, 'Bad Request: message is too long');
    const markup = body['reply_markup'] as
      | { inline_keyboard?: { text: string; callback_data: string }[][] }
      | undefined;
    const buttons = (markup?.inline_keyboard ?? []).flat();
    if (buttons.length > 100) return refusal(400, 'Bad Request: reply markup is too long');
    for (const { text: label, callback_data: data } of buttons) {
      if (Buffer.byteLength(data) > 64 || data === '')
        return refusal(400, 'Bad Request: BUTTON_DATA_INVALID');
      if (/\p{Cs}/u.test(label)) return refusal(400, 'Bad Request: strings must be encoded in UTF-8');
      if (label === '') return refusal(400, 'Bad Request: Text buttons are unallowed to be empty');
    }
    const shown = buttons.map(({ text: label, callback_data: data }) => ({ text: label, data }));
    if (method === 'sendMessage') {
      const messageId = this.#nextMessage++;
      this.sent.push({ chat, messageId, text, buttons: shown });
      return ok({ message_id: messageId, chat: { id: chat, type: 'private' }, date: 1, text });
    }
    const edited = this.sent.find(({ messageId }) => messageId === Number(body['message_id']));
    if (!edited) return refusal(400, 'Bad Request: message to edit not found');
    if (edited.text === text && JSON.stringify(edited.buttons) === JSON.stringify(shown))
      return refusal(
        400,
        'Bad Request: message is not modified: specified new message content and reply markup are exactly the same',
      );
    // The newest text stands last, as a user sees it.
    this.sent.splice(this.sent.indexOf(edited), 1);
    this.sent.push({ ...edited, text, buttons: shown });
    return ok({ message_id: edited.messageId, chat: { id: chat, type: 'private' }, date: 1, text });
  }

  /** Adds an update; a waiting call gets it at once. */
  push(update: Record<string, unknown>): number {
    const id = this.#nextUpdate++;
    this.#updates.push({ update_id: id, ...update });
    this.#poll?.respond(ok(this.#updates.slice(0, 100)));
    return id;
  }

  say(user: number, text: string, more: Record<string, unknown> = {}): number {
    return this.push(messageOf(user, text, more));
  }

  press(user: number, messageId: number, data: string): number {
    return this.push({
      callback_query: {
        id: `q${this.#nextUpdate}`,
        from: userOf(user),
        chat_instance: '1',
        data,
        message: { message_id: messageId, date: 1, chat: { id: user, type: 'private' } },
      },
    });
  }
}

const userOf = (id: number) => ({
  id,
  is_bot: false,
  first_name: 'Ada',
  username: `user${id}`,
  language_code: 'en',
});
export const messageOf = (user: number, text: string, more: Record<string, unknown> = {}) => ({
  message: {
    message_id: 1,
    date: 1_700_000_000,
    from: userOf(user),
    chat: { id: user, type: 'private', first_name: 'Ada' },
    text,
    ...more,
  },
});

async function bodyOf(request: IncomingMessage): Promise<Pick<Call, 'body' | 'files'>> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/'))
    return { body: whole.length > 0 ? (JSON.parse(whole.toString()) as Call['body']) : {}, files: {} };
  const body: Record<string, unknown> = {};
  const files: Record<string, { name: string; bytes: Buffer }> = {};
  await new Promise<void>((done, fail) => {
    const parser = new Busboy({ headers: { 'content-type': type } });
    parser.on('field', (name: string, value: string) => void (body[name] = value));
    parser.on('file', (name: string, stream: Readable, fileName: string) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => void (files[name] = { name: fileName, bytes: Buffer.concat(parts) }));
    });
    parser.on('finish', done);
    parser.on('error', fail);
    Readable.from([whole]).pipe(parser);
  });
  return { body, files };
}
