// What the panel holds for an instance over restarts: ports, a secret, and whether its program reads users at its start.
// A file and not a row: the next panel must find it even if the database was set back.
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { replaceFile } from '../../kernel/index.js';
import type { InstancePlan } from './contract.js';
import { isTableName, MOST_TABLES } from './nft-tables.js';

export interface InstanceRecord {
  readonly ports: Readonly<Record<string, number>>;
  readonly secret: string;
  readonly readsUsersAtStart: boolean;
  /** of the program that this was learnt from */
  readonly program: string;
  readonly inboundIds?: readonly number[];
  /** to be removed by a panel that does not have the plugin any more */
  readonly nftTables?: readonly string[];
}

const LARGEST = 64 * 1024;
const isPort = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536;

function isRecord(value: unknown): value is InstanceRecord {
  const {
    ports,
    secret,
    readsUsersAtStart,
    program,
    inboundIds = [],
    nftTables = [],
  } = Object(value) as Partial<InstanceRecord>;
  return (
    typeof ports === 'object' &&
    ports !== null &&
    Object.values(ports).every(isPort) &&
    typeof secret === 'string' &&
    /^[0-9a-f]{64}$/.test(secret) &&
    typeof readsUsersAtStart === 'boolean' &&
    typeof program === 'string' &&
    Array.isArray(inboundIds) &&
    inboundIds.every(Number.isSafeInteger) &&
    Array.isArray(nftTables) &&
    nftTables.length <= MOST_TABLES &&
    nftTables.every(isTableName)
  );
}

/** Undefined for none, and for a damaged one: the process is then started again with a new one. */
async function read(path: string): Promise<InstanceRecord | undefined> {
  try {
    const text = await readFile(path, 'utf8');
    const record: unknown = text.length > LARGEST ? undefined : JSON.parse(text);
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

const newSecret = (): string => randomBytes(32).toString('hex');

export class RecordFile {
  readonly #path: string;
  #record: InstanceRecord | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves with the record for these ports; `freePort` finds those that it lacks. */
  async for(
    { ports = [], nftTables, inboundIds }: Pick<InstancePlan, 'ports' | 'nftTables' | 'inboundIds'>,
    program: string,
    freePort: () => Promise<number>,
  ): Promise<InstanceRecord> {
    const last = (this.#record ??= await read(this.#path));
    const held = { ...last?.ports };
    for (const name of ports) held[name] ??= await freePort();
    const wanted: InstanceRecord = {
      ports: Object.fromEntries(ports.map((name) => [name, held[name] as number])),
      secret: last?.secret ?? newSecret(),
      // Another program may be able to do more.
      readsUsersAtStart: last?.program === program && last.readsUsersAtStart,
      program,
      inboundIds,
      ...(nftTables && { nftTables }),
    };
    return this.#save(wanted);
  }

  stored(): Promise<InstanceRecord | undefined> {
    return read(this.#path);
  }

  async change(changes: Partial<InstanceRecord>): Promise<void> {
    if (this.#record) await this.#save({ ...this.#record, ...changes });
  }

  /** Another program may have taken a port, and have been sent the secret before that was seen. */
  forgetPorts(): Promise<void> {
    return this.change({ ports: {}, secret: newSecret() });
  }

  async remove(): Promise<void> {
    this.#record = undefined;
    await rm(this.#path, { force: true });
  }

  async #save(record: InstanceRecord): Promise<InstanceRecord> {
    if (JSON.stringify(record) !== JSON.stringify(this.#record))
      await replaceFile(this.#path, `${JSON.stringify(record)}\n`, 0o600);
    this.#record = record;
    return record;
  }
}
