// What is measured: the machine every ten seconds, certificates every hour.
import { statfs } from 'node:fs/promises';
import type { Clock, Contributed, LiveSettings, PluginContext } from '../../kernel/index.js';
import type { ServerStatusApi } from '../server-status/contract.js';
import type { PanelListenerApi } from '../settings/contract.js';
import type { ActiveAlarms } from './active-alarms.js';
import { ServedCertificates, type ServedCertificate, WatchedStates } from './contract.js';
import type { alarmSettings } from './settings.js';

const DAY_MS = 86_400_000;
/** Readings in a row. Of the processors a minute: a build or a backup is no alarm. */
const NEEDED = { cpu: 6, memory: 3, disk: 3 } as const;
/** Points below the limit at which an alarm is over. */
const MARGIN = 5;
/** Days beyond the limit at which that of a certificate is over: a renewal, and not a clock that jumps. */
const MARGIN_DAYS = 1;
const CERTIFICATE = 'certificate:';
const LONGEST_PROBLEM = 500;

type Level = keyof typeof NEEDED;
const TEXTS: Readonly<Record<Level, (percent: string, limit: number) => string>> = {
  cpu: (percent, limit) =>
    `the processors have been busy for a minute: ${percent} %, the limit is ${limit} %`,
  memory: (percent, limit) => `the memory of the machine is ${percent} % full, the limit is ${limit} %`,
  disk: (percent, limit) => `a disk of the panel is ${percent} % full, the limit is ${limit} %`,
};

const percentOf = ({ current, total }: { readonly current: number; readonly total: number }): number =>
  total > 0 ? (100 * current) / total : Number.NaN;

export class Readings {
  readonly #alarms: ActiveAlarms;
  readonly #settings: LiveSettings<typeof alarmSettings>;
  readonly #status: ServerStatusApi | undefined;
  readonly #panel: PanelListenerApi | undefined;
  readonly #contributions: PluginContext['contributions'];
  readonly #folder: string;
  readonly #clock: Clock;
  #areCertificatesDue = false;

  constructor(needs: {
    alarms: ActiveAlarms;
    settings: LiveSettings<typeof alarmSettings>;
    status: ServerStatusApi | undefined;
    panel: PanelListenerApi | undefined;
    contributions: PluginContext['contributions'];
    dataDirectory: string;
    clock: Clock;
  }) {
    this.#alarms = needs.alarms;
    this.#settings = needs.settings;
    this.#status = needs.status;
    this.#panel = needs.panel;
    this.#contributions = needs.contributions;
    this.#folder = needs.dataDirectory;
    this.#clock = needs.clock;
  }

  async machine(): Promise<void> {
    const { alarmCpu, alarmMemory, alarmDisk } = this.#settings.read();
    const status = await this.#status?.status();
    if (status) {
      this.#level('cpu', status.cpu, alarmCpu);
      this.#level('memory', percentOf(status.mem), alarmMemory);
    }
    this.#level('disk', Math.max(await fullness('/'), await fullness(this.#folder)), alarmDisk);
    this.#states();
    if (this.#areCertificatesDue) await this.certificates();
    await this.#alarms.save();
  }

  #states(): void {
    for (const { value: state, fault } of this.#contributions(WatchedStates)) {
      let problem: unknown;
      try {
        problem = state.problem();
        if (typeof problem !== 'string')
          throw new Error(`problem returned ${typeof problem} instead of text`);
      } catch (error) {
        fault(`the state ${state.name}`, error);
        continue;
      }
      const value = problem === '' ? 0 : 1;
      const text = (problem as string).slice(0, LONGEST_PROBLEM);
      this.#alarms.take({
        name: state.name,
        value,
        level: value,
        setting: 1,
        limit: 0,
        calm: 0,
        needed: 1,
        text,
      });
    }
  }

  /** With the next reading of the machine: a change of settings may not wait for another write. */
  readCertificatesSoon(): void {
    this.#areCertificatesDue = true;
  }

  #level(name: Level, value: number, setting: number): void {
    this.#alarms.take({
      name,
      value,
      level: value,
      setting,
      limit: setting,
      calm: Math.max(0, setting - MARGIN),
      needed: NEEDED[name],
      text: TEXTS[name](value.toFixed(0), setting),
    });
  }

  async certificates(): Promise<void> {
    this.#areCertificatesDue = false;
    const { alarmCertificateDays: setting } = this.#settings.read();
    const names = new Set<string>();
    for (const { value, fault } of this.#served()) {
      const name = `${CERTIFICATE}${value.name}`;
      const end = endOf(value, fault);
      if (end === undefined) continue;
      names.add(name);
      const days = (end - this.#clock.now()) / DAY_MS;
      const date = new Date(end).toISOString().slice(0, 10);
      this.#alarms.take({
        name,
        value: Math.floor(days * 10) / 10,
        level: -days,
        setting,
        limit: -setting,
        calm: -(setting + MARGIN_DAYS),
        needed: 1,
        text:
          days < 0
            ? `the certificate of ${value.name} expired on ${date}`
            : `the certificate of ${value.name} expires on ${date}, in ${Math.floor(days)} days`,
      });
    }
    this.#alarms.keepOnly(CERTIFICATE, names);
    await this.#alarms.save();
  }

  #served(): readonly Pick<Contributed<ServedCertificate>, 'value' | 'fault'>[] {
    const panel = this.#panel;
    return [
      ...(panel
        ? [{ value: { name: 'panel', validTo: panel.certificateValidTo }, fault: () => undefined }]
        : []),
      ...this.#contributions(ServedCertificates),
    ];
  }
}

/** Percent of a file system that is in use, as `df` counts it: what only root may use is not free. */
async function fullness(path: string): Promise<number> {
  const disk = await statfs(path).catch(() => undefined);
  if (!disk) return 0;
  const used = disk.blocks - disk.bfree;
  return used + disk.bavail > 0 ? (100 * used) / (used + disk.bavail) : 0;
}

/** Unix ms; undefined where none is served. */
function endOf(
  { name, validTo }: ServedCertificate,
  fault: Contributed<ServedCertificate>['fault'],
): number | undefined {
  try {
    const text: unknown = validTo();
    if (text === '') return undefined;
    const end = typeof text === 'string' ? Date.parse(text) : Number.NaN;
    if (!Number.isFinite(end))
      throw new Error(`validTo returned ${typeof text}, which is not a date as text`);
    return end;
  } catch (error) {
    fault(`the certificate ${name}`, error);
    return undefined;
  }
}
