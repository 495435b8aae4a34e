// Processes replies of many megabytes in slices, so that the panel stays responsive.
import { setImmediate } from 'node:timers/promises';
import protobuf from 'protobufjs/light.js';

const SLICE_MS = 5;
const LOOK_AT_CLOCK_EVERY = 128;

/** `if (pace.due()) await pace.rest()` in a long loop gives the event loop a turn after about 5 ms of work. */
export class Pace {
  #begun = performance.now();
  #steps = 0;

  due(): boolean {
    this.#steps += 1;
    return this.#steps % LOOK_AT_CLOCK_EVERY === 0 && performance.now() - this.#begun > SLICE_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#begun = performance.now();
  }
}

/** Calls `use` with the bytes of each message in the repeated field number `field`, without copying them. */
export async function eachRecord(
  message: Uint8Array,
  field: number,
  use: (record: Uint8Array) => void,
): Promise<void> {
  const key = (field << 3) | 2;
  const reader = protobuf.Reader.create(message);
  const pace = new Pace();
  while (reader.pos < reader.len) {
    const found = reader.uint32();
    if (found !== key) {
      reader.skipType(found & 7);
      continue;
    }
    const length = reader.uint32();
    use(message.subarray(reader.pos, reader.pos + length));
    reader.skip(length);
    if (pace.due()) await pace.rest();
  }
}
