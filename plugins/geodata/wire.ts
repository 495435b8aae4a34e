// Reads the protobuf of geodata without building messages: files have a million items.
// Encoding: protobuf.dev/programming-guides/encoding.

export const VARINT = 0;
export const BYTES = 2;
const [FIXED64, FIXED32] = [1, 5];
const MOST_VARINT_BYTES = 10;

/** A position in bytes. Methods throw where the bytes are no protobuf. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;
  end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** Numbers above 2^53 are not exact; none occur in a valid file. */
  varint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < MOST_VARINT_BYTES; count++) {
      if (this.at >= this.end) throw new Error('it is cut off');
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new Error('it has a number that is too long');
  }

  /** Moves behind a field of bytes; returns where they begin. They end at `at`. */
  span(): number {
    const length = this.varint();
    const begin = this.at;
    if (length > this.end - begin) throw new Error('it is cut off');
    this.at = begin + length;
    return begin;
  }

  /** Moves behind a field of this wire type. */
  skip(type: number): void {
    if (type === VARINT) this.varint();
    else if (type === BYTES) this.span();
    else if (type === FIXED64 || type === FIXED32) {
      this.at += type === FIXED64 ? 8 : 4;
      if (this.at > this.end) throw new Error('it is cut off');
    } else throw new Error(`it has a field of the unknown type ${type}`);
  }
}
