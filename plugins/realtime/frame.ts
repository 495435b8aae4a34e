// One message, serialized once for all readers of either endpoint.

export class Frame {
  readonly type: string;
  /** A newer message with the same key says all that this one says; without a key each message counts. */
  readonly key: string | undefined;
  /** JSON */
  readonly text: string;
  #bytes: Buffer | undefined;
  #packet: string | undefined;

  /** `payload` is JSON. `seq` grows by one with each broadcast; a reader that sees a gap has missed a message. */
  constructor(type: string, payload: string, seq: number, time: number, key?: string) {
    this.type = type;
    this.key = key;
    this.text = `{"type":${JSON.stringify(type)},"seq":${seq},"time":${time},"payload":${payload}}`;
  }

  /** text for a plain WebSocket */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(this.text));
  }
  /** text for socket.io: an event named after the type, with the whole message as its argument */
  get packet(): string {
    return (this.#packet ??= `2[${JSON.stringify(this.type)},${this.text}]`);
  }
}
