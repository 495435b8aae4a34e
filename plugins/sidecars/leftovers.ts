// What processes left behind whose panel was killed, and whose inbound or plugin has gone since: files with secrets, the
// record, tables of nftables.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Log, messageOf } from '../../kernel/index.js';
import type { ProcessesApi } from '../processes/contract.js';
import type { CountingApi } from '../traffic/contract.js';
import { RecordFile } from './instance-record.js';
import { readLeft } from './left-process.js';
import { removeTables } from './nft-tables.js';
import { Settling, SOURCE } from './settling.js';

const NAME = /^[a-z0-9-]{1,64}$/;
/** What `processes` keeps in the folder of a process. */
const KEPT = /^(?:process\.json|output\.log.*)$/;

interface Needs {
  readonly processes: ProcessesApi;
  readonly log: Log;
  readonly dataDirectory: string;
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

export class Leftovers {
  readonly #needs: Needs;

  constructor({ processes, log, dataDirectory }: Needs) {
    this.#needs = { processes, log, dataDirectory };
  }

  /** Protocols that have had instances. */
  async protocols(): Promise<string[]> {
    return (await namesIn(join(this.#needs.dataDirectory, 'sidecars'))).filter((name) => NAME.test(name));
  }

  /** Counts what processes of the sidecar have moved that are about to be stopped. Call it before that, with the plan known. */
  async count(
    needs: Parameters<typeof readLeft>[0] & { counting: CountingApi },
    exists: (name: string) => boolean,
  ): Promise<void> {
    const { protocol } = needs.sidecar;
    const folder = join(this.#needs.dataDirectory, 'sidecars', protocol);
    for (const name of await this.#left(folder, exists)) {
      const record = await new RecordFile(join(folder, `${name}.json`)).stored();
      const reading =
        record &&
        (await readLeft(needs, {
          name,
          inboundIds: record.inboundIds ?? [],
          folder: this.#folderOf(protocol, name),
          record,
        }));
      if (reading) void new Settling({ ...needs, source: SOURCE }).settle([reading]);
    }
  }

  /** Removes what instances of the protocol left that do not exist. What fails is logged, and tried again by the next panel. */
  async remove(protocol: string, exists: (name: string) => boolean): Promise<void> {
    const folder = join(this.#needs.dataDirectory, 'sidecars', protocol);
    for (const name of await this.#left(folder, exists)) {
      try {
        await this.#removeOne(this.#folderOf(protocol, name), new RecordFile(join(folder, `${name}.json`)));
        this.#needs.log.info('removed what a program left behind', { protocol, sidecar: name });
      } catch (error) {
        this.#needs.log.warn('cannot remove what a program left behind', {
          protocol,
          sidecar: name,
          reason: messageOf(error),
        });
      }
    }
  }

  /** Names of records whose instances do not exist. */
  async #left(folder: string, exists: (name: string) => boolean): Promise<string[]> {
    return (await namesIn(folder)).flatMap((file) => {
      const name = file.replace(/\.json$/, '');
      return name === file || !NAME.test(name) || exists(name) ? [] : [name];
    });
  }
  #folderOf(protocol: string, name: string): string {
    return join(this.#needs.dataDirectory, 'processes', 'sidecars', `${protocol}-${name}`);
  }

  async #removeOne(folder: string, record: RecordFile): Promise<void> {
    if (await stat(folder).catch(() => undefined)) {
      // Rules go after the process that they hold back.
      await this.#stop(join(folder, 'process.json'));
      for (const file of (await namesIn(folder)).filter((one) => !KEPT.test(one)))
        await rm(join(folder, file), { recursive: true, force: true });
    }
    await removeTables((await record.stored())?.nftTables ?? []);
    await record.remove();
  }

  async #stop(record: string): Promise<void> {
    const { processes, log } = this.#needs;
    const slot = processes.slot({ record, isNote: (_note): _note is object => true, log });
    const left = await slot.adopt();
    await left?.stop();
    await slot.endStrays();
    await slot.forget();
  }
}
