// Makes zips, good and bad ones.
import { crc32, deflateRawSync } from 'node:zlib';

export interface File {
  readonly name: string;
  readonly content: Buffer | string;
  readonly method?: 'stored' | 'deflated';
  /** of Unix */
  readonly mode?: number;
  readonly flags?: number;
  /** instead of what is true */
  readonly size?: number;
  readonly crc?: number;
}

export function zipOf(files: readonly File[], comment = ''): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, method = 'deflated', mode = 0o100755, flags = 0, ...said } of files) {
    const plain = Buffer.from(content);
    const packed = method === 'stored' ? plain : deflateRawSync(plain);
    const fixed = Buffer.alloc(26);
    fixed.writeUInt16LE(20, 0);
    fixed.writeUInt16LE(flags, 2);
    fixed.writeUInt16LE(method === 'stored' ? 0 : 8, 4);
    fixed.writeUInt32LE(said.crc ?? crc32(plain), 10);
    fixed.writeUInt32LE(packed.length, 14);
    fixed.writeUInt32LE(said.size ?? plain.length, 18);
    fixed.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fixed, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(at, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), fixed, tail, Buffer.from(name)]),
    );
    locals.push(local);
    at += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(at, 12);
  end.writeUInt16LE(Buffer.byteLength(comment), 16);
  return Buffer.concat([...locals, entries, Buffer.from('PK\x05\x06'), end, Buffer.from(comment)]);
}
