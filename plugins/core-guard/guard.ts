// Checks parts of the core's config: when they are saved, and each time that the config is composed.
import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { type ListenersApi, messageOf } from '../../kernel/index.js';
import { Lookups, reachOf } from './address.js';
import { CertificateFiles, FileRefused } from './certificate-files.js';
import { dialed } from './config-destinations.js';
import { costlyProblem } from './costly-settings.js';
import { crashProblem } from './crashing-settings.js';
import { fileKey, fileValue } from './config-files.js';
import type { Beside, ConfigPart, CoreGuardApi, Finding } from './contract.js';
import { type Destination, destinationOf, nameOf } from './destination.js';
import { listensAt } from './inbound-at.js';
import { ownTagProblem } from './own-tags.js';
import { serverProblem } from './server-settings.js';
import { SocketFolders } from './socket-folders.js';
import { isSocket, socketName } from './socket-name.js';
import { type Place, walk } from './walk.js';

export interface GuardConfig {
  readonly fallbackDestinations: readonly string[];
  readonly certificateDirectories: readonly string[];
  readonly socketDirectories: readonly string[];
}
interface Needs {
  readonly listeners: Pick<ListenersApi, 'places'>;
  readonly dataDirectory: string;
  readonly config: GuardConfig;
}
/** A problem, and the entry of `WEIR_FALLBACK_DESTINATIONS` that would allow it. */
interface Objection {
  readonly text: string;
  readonly destination?: string;
}

const NAME_IT =
  'name it in WEIR_FALLBACK_DESTINATIONS and restart the panel, or choose a destination on the Internet';

export class Guard implements CoreGuardApi {
  readonly #listeners: Pick<ListenersApi, 'places'>;
  readonly #dataDirectory: string;
  readonly #files: CertificateFiles;
  readonly #sockets: SocketFolders;
  readonly #named: ReadonlySet<string>;

  constructor({ listeners, dataDirectory, config }: Needs) {
    this.#listeners = listeners;
    this.#dataDirectory = resolve(dataDirectory);
    this.#files = new CertificateFiles(config.certificateDirectories, dataDirectory);
    this.#sockets = new SocketFolders(config.socketDirectories, dataDirectory);
    this.#named = new Set(config.fallbackDestinations.map((text) => nameOf(destinationOf(text))));
  }

  readCertificate(path: string): Promise<string> {
    return this.#files.read(path);
  }

  destinations(part: ConfigPart): string[] {
    return [...walk(part)].flatMap((place) =>
      dialed(place).flatMap(({ as, to }) => (as === 'relay' && nameOf(to) ? [nameOf(to)] : [])),
    );
  }

  async examine(part: ConfigPart, beside: Beside): Promise<Finding[]> {
    const findings: Finding[] = [];
    const lookups = new Lookups();
    for (const place of walk(part))
      for (const { text, destination } of await this.#objections(place, part, beside, lookups))
        findings.push({
          path: place.path,
          message: `${place.path}: ${text}`,
          ...(destination !== undefined && { destination }),
        });
    return findings;
  }

  async problem(part: ConfigPart, beside: Beside): Promise<string | undefined> {
    for (const place of walk(part)) {
      const objections = await this.#objections(place, part, beside);
      const hard = objections.find(({ destination }) => destination === undefined);
      if (hard) return `${place.path}: ${hard.text}`;
    }
    return undefined;
  }

  /** `lookups`: of a save. */
  async #objections(place: Place, part: ConfigPart, beside: Beside, lookups?: Lookups): Promise<Objection[]> {
    const { value, twin } = place;
    const texts = [
      twin === undefined ? undefined : 'the core takes this key and another one of this object for the same',
      beside.elsewhere ? undefined : await this.#fileProblem(place, lookups !== undefined),
      beside.elsewhere ? undefined : await this.#listenProblem(place),
      // Only inbounds listen.
      'listen' in part ? serverProblem(place) : crashProblem(place),
      ownTagProblem(place),
      costlyProblem(place),
    ];
    const objections: Objection[] = texts.flatMap((text) => (text === undefined ? [] : [{ text }]));
    if (beside.elsewhere) return objections;
    for (const { as, to } of dialed(place)) {
      const objection =
        as === 'relay'
          ? await this.#relayProblem(value, to, beside, lookups)
          : this.#serverProblem(value, to);
      if (objection) objections.push(objection);
    }
    return objections;
  }

  async #fileProblem(place: Place, saving: boolean): Promise<string | undefined> {
    const file = fileKey(place);
    if (!file) {
      const text = fileValue(place);
      return text && `${String(place.value)} ${text}, which is not allowed`;
    }
    if (file.use === 'refused') return `the core ${file.does}; leave this key out`;
    const { value } = place;
    if (typeof value !== 'string') return 'it must be the path of a file';
    try {
      await this.#files.check(value);
      return undefined;
    } catch (error) {
      // A file that is missing for now must not stop a running inbound.
      return saving || error instanceof FileRefused ? messageOf(error) : undefined;
    }
  }

  /** Only inbounds have this key at their top. */
  async #listenProblem({ keys, value }: Place): Promise<string | undefined> {
    if (keys.length !== 1 || keys[0] !== 'listen' || typeof value !== 'string' || !isSocket(value))
      return undefined;
    return this.#sockets.problem(value);
  }

  /** An outbound may lead to programs of this machine, but not into the panel. */
  #serverProblem(written: unknown, to: Destination): Objection | undefined {
    if (to.kind === 'socket') return { text: `${to.path} is a Unix socket` };
    // The core reads more notations than the panel, and could read the panel's own port.
    if (to.kind === 'unreadable')
      return { text: `${JSON.stringify(written)} is not a valid destination; write host:port with numbers` };
    if (to.kind === 'machine')
      return {
        text: `${to.address} is this machine, and without a port users choose one, the panel's too; add the port`,
      };
    if (to.kind !== 'address' || reachOf(to.address) !== 'own') return undefined;
    const owner = this.#ownerOf(to.port);
    return owner === undefined ? undefined : { text: `${nameOf(to)} is ${owner}` };
  }

  async #relayProblem(
    written: unknown,
    to: Destination,
    beside: Beside,
    lookups: Lookups | undefined,
  ): Promise<Objection | undefined> {
    if (to.kind === 'nothing') return undefined;
    if (to.kind === 'unreadable' || to.kind === 'machine')
      return {
        text: `${JSON.stringify(written)} is not a valid destination; write a port, or host:port with numbers`,
      };
    if (to.kind === 'socket') return this.#socketProblem(to.path, beside);
    const owner = this.#ownerOf(to.port);
    if (to.kind === 'name') {
      // The owner of the name decides where it leads, and may change it at any time.
      if (owner !== undefined)
        return {
          text: `port ${to.port} is ${owner}, where a name may lead to at any time; write an address`,
        };
      if (!lookups || this.#named.has(nameOf(to))) return undefined;
      const found = (await lookups.of(to.name)).find((address) => reachOf(address) !== 'public');
      return found === undefined
        ? undefined
        : { text: `${nameOf(to)} is ${found}, which is not public; ${NAME_IT}`, destination: nameOf(to) };
    }
    const reach = reachOf(to.address);
    if (reach === 'public') return undefined;
    if (reach === 'own' && owner !== undefined) return { text: `${nameOf(to)} is ${owner}; choose another` };
    if (reach === 'own' && beside.inbounds.some((inbound) => serves(inbound, to))) return undefined;
    if (this.#named.has(nameOf(to))) return undefined;
    const where = reach === 'own' ? 'on this machine' : 'not public';
    return { text: `${nameOf(to)} is ${where}; ${NAME_IT}`, destination: nameOf(to) };
  }

  /** A path may lead to the panel's own sockets, through any number of links. */
  async #socketProblem(path: string, { inbounds }: Beside): Promise<Objection | undefined> {
    const socket = socketName(path);
    const named = this.#named.has(path);
    if (named || inbounds.some(({ listen }) => socketName(listen) === socket))
      if (path.startsWith('@') || !(await this.#isOurs(path))) return undefined;
    return {
      text: named
        ? `${path} is in the panel's data folder`
        : `${path} is a Unix socket of no inbound; use a port, or name the path in WEIR_FALLBACK_DESTINATIONS and restart the panel`,
    };
  }

  async #isOurs(path: string): Promise<boolean> {
    const real = (name: string): Promise<string> => realpath(name).catch(() => name);
    const data = await real(this.#dataDirectory);
    const found = [resolve(path), await real(path), await real(dirname(path))];
    return found.some((place) =>
      [data, this.#dataDirectory].some((folder) => !relative(folder, place).startsWith('..')),
    );
  }

  /** Owner of a port of this machine, if it is the panel's. */
  #ownerOf(port: number): string | undefined {
    const name = this.#listeners.places().find((place) => place.port === port)?.name;
    return name && (name === 'panel' ? "the panel's own" : `that of the panel's listener ${name}`);
  }
}

/** Whether a connection there reaches this inbound: if it is disabled, or has another address, another program may listen. */
const serves = (
  inbound: Beside['inbounds'][number],
  to: { readonly address: string; readonly port: number },
): boolean => inbound.enable !== false && listensAt(inbound, to);
