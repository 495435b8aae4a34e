// One message, written out once for all who read it, whichever door they came by.

export class Frame {
  readonly type: string;
  /** JSON */
  readonly text: string;
  #bytes: Buffer | undefined;
  #packet: string | undefined;

  /** `payload` is JSON. `seq` grows by one with each message to all; a reader that sees a gap has missed something. */
  constructor(type: string, payload: string, seq: number, time: number) {
    this.type = type;
    this.text = `{"type":${JSON.stringify(type)},"seq":${seq},"time":${time},"payload":${payload}}`;
  }

  /** as a plain WebSocket sends it */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(this.text));
  }
  /** as socket.io sends it: an event called after the type, with the whole message as its argument */
  get packet(): string {
    return (this.#packet ??= `2[${JSON.stringify(this.type)},${this.text}]`);
  }
}
