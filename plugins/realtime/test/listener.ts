// A reader of the live stream of a panel, at either endpoint, that stores what it receives.
import { io, type Socket as IoSocket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { until } from '../../../test/harness/index.js';

export interface Message<P = Record<string, unknown>> {
  readonly type: string;
  readonly seq: number;
  readonly time: number;
  readonly payload: P;
}

/** What is needed of a panel. */
interface Place {
  readonly url: string;
  readonly cookie: string;
}

export class Listener {
  readonly messages: Message[] = [];
  /** code of the close, or the reason by socket.io's words */
  ended: number | string | undefined;
  /** what the refusal said, with its status */
  refused = '';
  say: (text: string) => void = () => undefined;
  /** a message of a type, as the endpoint takes it */
  tell: (type: string, fields: object) => void = () => undefined;
  close: () => void = () => undefined;

  /** By a plain WebSocket, as the admin unless told otherwise. */
  static plain(
    panel: Place,
    headers: Readonly<Record<string, string>> = { cookie: panel.cookie },
    path = '/ws',
  ): Listener {
    const listener = new Listener();
    const socket = new WebSocket(panel.url.replace('http', 'ws') + path, { headers });
    socket.on('message', (data: Buffer) => listener.messages.push(JSON.parse(data.toString()) as Message));
    socket.on('error', (error) => (listener.refused ||= error.message));
    socket.on('close', (code) => (listener.ended = code));
    listener.say = (text) => socket.send(text);
    listener.tell = (type, fields) => socket.send(JSON.stringify({ type, ...fields }));
    listener.close = () => socket.terminate();
    return listener;
  }

  /** By socket.io. */
  static io(
    panel: Place,
    headers: Readonly<Record<string, string>> = { cookie: panel.cookie },
    path = '/socket.io',
  ): Listener {
    const listener = new Listener();
    const socket: IoSocket = io(panel.url, {
      path,
      transports: ['websocket'],
      extraHeaders: headers,
      reconnection: false,
      forceNew: true,
    });
    socket.onAny((name: string, message: Message) => {
      if (name !== message.type)
        throw new Error(`the event ${name} carries a message of the type ${message.type}`);
      listener.messages.push(message);
    });
    socket.on(
      'connect_error',
      (error) =>
        (listener.refused ||= `${error.message} ${JSON.stringify((error as { description?: { message?: string } }).description?.message)}`),
    );
    socket.on('disconnect', (reason) => (listener.ended = reason));
    listener.say = (text) => void socket.emit('hello', text);
    listener.tell = (type, fields) => void socket.emit(type, fields);
    listener.close = () => void socket.disconnect();
    return listener;
  }

  of<P = Record<string, unknown>>(type: string): Message<P>[] {
    return this.messages.filter((message) => message.type === type) as Message<P>[];
  }
  /** The first message of a type, once it is there. */
  async first<P = Record<string, unknown>>(type: string): Promise<Message<P>> {
    await until(
      () => this.of(type).length > 0 || this.refused !== '' || this.ended !== undefined,
      `a message of the type ${type}`,
    );
    const [message] = this.of<P>(type);
    if (!message) throw new Error(`no message of the type ${type}: ${this.refused} ${this.ended}`);
    return message;
  }
  async end(): Promise<number | string> {
    await until(() => this.ended !== undefined, 'the end of the connection');
    return this.ended ?? '';
  }
}
