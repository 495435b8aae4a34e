// Takes one file out of a zip in memory. Names in the archive are compared, never used as paths, and sizes are checked
// before and after. Layout: PKWARE's APPNOTE 6.3, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.16 (its end).
import { crc32, inflateRaw } from 'node:zlib';
import { promisify } from 'node:util';
import { TimeSlice } from '../../../kernel/index.js';

const DIRECTORY_END = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_END_LENGTH = 22;
const LONGEST_COMMENT = 0xffff;
const PIECE = 4 * 1024 * 1024;
const [STORED, DEFLATED] = [0, 8];
const ENCRYPTED = 1;
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;

interface Entry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** of Unix; 0 where the archive was made elsewhere */
  readonly type: number;
  readonly at: number;
}

function directoryOf(zip: Buffer): { count: number; at: number } {
  for (
    let end = zip.length - DIRECTORY_END_LENGTH;
    end >= 0 && end >= zip.length - DIRECTORY_END_LENGTH - LONGEST_COMMENT;
    end--
  ) {
    if (zip.readUInt32LE(end) === DIRECTORY_END)
      return { count: zip.readUInt16LE(end + 10), at: zip.readUInt32LE(end + 16) };
  }
  throw new Error('its directory is missing');
}

function entriesOf(zip: Buffer): Entry[] {
  const entries: Entry[] = [];
  let { count, at } = directoryOf(zip);
  for (; count > 0; count--) {
    if (zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error('its directory is damaged');
    const nameLength = zip.readUInt16LE(at + 28);
    entries.push({
      name: zip.toString('utf8', at + 46, at + 46 + nameLength),
      flags: zip.readUInt16LE(at + 8),
      method: zip.readUInt16LE(at + 10),
      crc: zip.readUInt32LE(at + 16),
      packed: zip.readUInt32LE(at + 20),
      size: zip.readUInt32LE(at + 24),
      type: (zip.readUInt32LE(at + 38) >>> 16) & FILE_TYPE,
      at: zip.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}

async function unpack(
  zip: Buffer,
  { flags, method, crc, packed, size, type, at }: Entry,
  limit: number,
): Promise<Buffer> {
  if (flags & ENCRYPTED) throw new Error('it is encrypted');
  if (type !== 0 && type !== REGULAR) throw new Error('it is a link or a folder, not a file');
  if (size > limit || packed > limit) throw new Error(`it is larger than ${limit} bytes`);
  if (zip.readUInt32LE(at) !== LOCAL_HEADER) throw new Error('its place in the archive is wrong');
  const begin = at + 30 + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
  if (begin + packed > zip.length) throw new Error('it is cut off');
  const content = zip.subarray(begin, begin + packed);
  if (method !== STORED && method !== DEFLATED)
    throw new Error(`it is packed by method ${method}, which is unknown here`);
  const file =
    method === STORED
      ? content
      : await promisify(inflateRaw)(content, { maxOutputLength: Math.max(size, 1) });
  if (file.length !== size || (await checksumOf(file)) !== crc) throw new Error('its content is damaged');
  return file;
}

/** A program of 40 MiB in one piece would keep others waiting. */
async function checksumOf(file: Buffer): Promise<number> {
  const slice = new TimeSlice();
  let checksum = 0;
  for (let at = 0; at < file.length; at += PIECE) {
    checksum = crc32(file.subarray(at, at + PIECE), checksum);
    if (slice.isOver) await slice.next();
  }
  return checksum;
}

/** The file with exactly this name; rejects with what is wrong with the archive. */
export async function unzip(zip: Buffer, name: string, limit: number): Promise<Buffer> {
  try {
    const found = entriesOf(zip).filter((entry) => entry.name === name);
    if (found.length > 1) throw new Error('it is there twice');
    if (!found[0]) throw new Error('it is not there');
    return await unpack(zip, found[0], limit);
  } catch (cause) {
    const why = cause instanceof RangeError ? 'the archive is damaged' : (cause as Error).message;
    throw new Error(`the archive gives no ${name}: ${why}`, { cause });
  }
}
