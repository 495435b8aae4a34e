// Checks a program before it runs. Otherwise the C library passes a file that the kernel cannot run to /bin/sh
// (execvp(3): "if the header of a file isn't recognized"), and the shell complains about the bytes of a binary.
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { arch } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CannotRun } from './contract.js';

/** `e_machine` of the ELF header (System V ABI, "ELF Header") by Node's name for the machine; 32-bit programs run on their 64-bit relatives. */
const MACHINES: Readonly<Record<string, readonly number[]>> = {
  x64: [62, 3],
  ia32: [3],
  arm64: [183, 40],
  arm: [40],
  riscv64: [243],
  ppc64: [21],
  s390x: [22],
  loong64: [258],
};
const NAMES: Readonly<Record<number, string>> = {
  3: '32-bit x86',
  21: 'ppc64',
  22: 's390x',
  40: '32-bit ARM',
  62: 'x64',
  183: 'arm64',
  243: 'RISC-V',
  258: 'LoongArch',
};
const ELF = '\u007fELF';
const BIG_ENDIAN = 2;
const CLASS_32 = 1;
/** bytes of the header of a 64-bit file; that of a 32-bit one has 52, and something follows it */
const HEADER = 64;

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}

async function inPath(name: string, path: string): Promise<string> {
  for (const folder of path.split(':').filter(isAbsolute)) {
    const candidate = join(folder, name);
    if (await exists(candidate)) return candidate;
  }
  throw new CannotRun(`cannot run ${name}: no folder in PATH has such a program; install it`);
}

/** Returns why the first bytes of a file are not a program for this machine; undefined if they are. */
function problemOf(head: Buffer, size: number): string | undefined {
  if (head.toString('latin1', 0, 2) === '#!') return undefined;
  if (head.toString('latin1', 0, 4) !== ELF)
    return 'it is neither a binary for Linux nor a script that begins with #!';
  if (head.length < HEADER) return 'it is cut off; install it again';
  const isBig = head[5] === BIG_ENDIAN;
  const half = (at: number) => (isBig ? head.readUInt16BE(at) : head.readUInt16LE(at));
  const machine = half(18);
  const fitting = MACHINES[arch()];
  if (fitting !== undefined && !fitting.includes(machine))
    return `it was built for ${NAMES[machine] ?? `the machine ${machine}`}, this machine is ${arch()}; install the one for ${arch()}`;
  // e_phoff, e_phentsize, e_phnum: the table that says what is loaded
  const is32 = head[4] === CLASS_32;
  const at = is32 ? 28 : 32;
  const word = isBig ? head.readUInt32BE(is32 ? at : at + 4) : head.readUInt32LE(at);
  const end = word + half(is32 ? 42 : 54) * half(is32 ? 44 : 56);
  return end > size || end === word ? 'it is cut off; install it again' : undefined;
}

async function headOf(path: string): Promise<Buffer | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER), 0, HEADER, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    // We may be able to run a program that we cannot read.
    return undefined;
  }
}

/** Returns the path of a program that this machine can run. Rejects with CannotRun and a message. @param command an absolute path, or a name that is looked up in `path` */
export async function findProgram(command: string, path: string): Promise<string> {
  const file = command.includes('/') ? command : await inPath(command, path);
  const found = await stat(file).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'there is no such file; install it' : cause.message;
    throw new CannotRun(`cannot run ${file}: ${reason}`, { cause });
  });
  if (!found.isFile()) throw new CannotRun(`cannot run ${file}: it is not a file`);
  await access(file, constants.X_OK).catch((cause: unknown) => {
    throw new CannotRun(`cannot run ${file}: it is not executable; chmod +x makes it so`, { cause });
  });
  const head = await headOf(file);
  const problem = head && problemOf(head, found.size);
  if (problem !== undefined) throw new CannotRun(`cannot run ${file}: ${problem}`);
  return file;
}

/** Returns the error of a failed start, for a program that `findProgram` has found. */
export function whyNotStarted(program: string, cause: NodeJS.ErrnoException): CannotRun {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT:
      'what runs it (the interpreter after #!, or the loader of its C library) is not there, or its working folder is not',
    EACCES: 'the system does not permit it (a file system mounted with noexec, say)',
    E2BIG: 'its arguments and environment are too long',
    EAGAIN: 'the limit of processes is reached',
    ENOMEM: 'there is not enough memory',
    ETXTBSY: 'somebody is writing the file; try again when that is done',
  };
  return new CannotRun(`cannot run ${program}: ${reasons[cause.code ?? ''] ?? cause.message}`, { cause });
}
