// Reads replies of many megabytes in slices, so that the panel stays responsive.
import protobuf from 'protobufjs/light.js';
import { TimeSlice } from '../../../kernel/index.js';

const LOOK_AT_CLOCK_EVERY = 128;

/** Calls `use` with the bytes of each message in the repeated field number `field`, without copying them. */
export async function eachMessage(
  message: Uint8Array,
  field: number,
  use: (bytes: Uint8Array) => void,
): Promise<void> {
  const key = (field << 3) | 2;
  const reader = protobuf.Reader.create(message);
  const slice = new TimeSlice();
  for (let read = 1; reader.pos < reader.len; read++) {
    const found = reader.uint32();
    if (found !== key) {
      reader.skipType(found & 7);
      continue;
    }
    const length = reader.uint32();
    use(message.subarray(reader.pos, reader.pos + length));
    reader.skip(length);
    if (read % LOOK_AT_CLOCK_EVERY === 0 && slice.isOver) await slice.next();
  }
}
