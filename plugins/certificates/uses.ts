// Puts a certificate where it is used, and tells everything that serves it of new files.
import { resolve } from 'node:path';
import { type Clock, type Log, messageOf, type PluginContext, type Principal } from '../../kernel/index.js';
import type { PanelsApi } from '../cluster/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { Inbound, InboundEditsApi, LocalInboundsApi } from '../inbounds/contract.js';
import type { PanelListenerApi, SettingsApi } from '../settings/contract.js';
import type { CertificateFolders } from './certificate-files.js';
import type { Certificate, CertificateStore } from './certificate-store.js';
import { CERTIFICATE_FOLDER, type CertificatePaths, CertificateUsers, panelFiles } from './contract.js';
import { errors } from './errors.js';
import { NOT_USED, type SentUses, type StoredUses } from './fields.js';
import { certificatesOf, withCertificate } from './inbound-tls.js';
import type { ServedCertificates } from './served.js';
import { panelFileSettings } from './settings.js';

const certificateFileOf = (entry: Readonly<Record<string, unknown>>): string =>
  String(entry['certificateFile'] ?? '');
const RESTART = 'it serves HTTPS from its next start on';

/** As admins write paths, with `//` and `..`. The data folder may be that of another panel; names of these folders are random. */
const isIn = (folder: string, path: string): boolean =>
  resolve(path).includes(`/${CERTIFICATE_FOLDER}/${folder}/`);

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly self: Principal;
  readonly dataDirectory: string;
  readonly contributions: PluginContext['contributions'];
  readonly store: CertificateStore;
  readonly folders: CertificateFolders;
  readonly served: ServedCertificates;
  readonly inbounds: LocalInboundsApi;
  readonly inboundEdits: InboundEditsApi;
  readonly engine: EngineApi;
  readonly listener: PanelListenerApi | undefined;
  readonly allSettings: SettingsApi;
  readonly panels: PanelsApi | undefined;
}

export class CertificateUses {
  readonly #needs: Needs;
  /** the last problem of each, by id */
  readonly #logged = new Map<number, string>();
  /** ids of those that the panel used at some time since its start */
  readonly #ofPanel = new Set<number>();
  /** ids of those that the core of this panel must read at once, and another panel ordered */
  readonly #urgent = new Set<number>();

  constructor(needs: Needs) {
    const { clock, log, self, dataDirectory, contributions, store, folders } = needs;
    const { served, inbounds, inboundEdits, engine, listener, allSettings, panels } = needs;
    this.#needs = {
      clock,
      log,
      self,
      dataDirectory,
      contributions,
      store,
      folders,
      served,
      inbounds,
      inboundEdits,
      engine,
      listener,
      allSettings,
      panels,
    };
  }

  /** Returns what was sent, with ids. Throws USE. */
  read(sent: SentUses | undefined): StoredUses {
    if (!sent) return NOT_USED;
    const { panel = false, subscription = false, inbounds = [] } = sent;
    const problem = panel ? this.#panelProblem() : undefined;
    if (problem !== undefined) throw errors.USE(`uses.panel: ${problem}`, { path: 'uses.panel' });
    if (subscription && !this.#user())
      throw errors.USE('uses.subscription: the subscription server does not run', {
        path: 'uses.subscription',
      });
    const ids = inbounds.map((wanted, i) => this.#inboundOf(wanted, `uses.inbounds.${i}`).id);
    return { panel, subscription, inbounds: [...new Set(ids)] };
  }

  #user() {
    return this.#needs.contributions(CertificateUsers)[0];
  }

  #panelProblem(): string | undefined {
    const { listener, dataDirectory } = this.#needs;
    if (!listener) return 'the panel runs inside another program, which serves its pages';
    const { certificate } = listener.certificateFiles;
    const { webCertFile } = this.#needs.allSettings.read(panelFileSettings);
    if (listener.certificateSource === 'default' && webCertFile !== '')
      return `the setting webCertFile names the certificate of the panel, ${webCertFile}; empty it and webKeyFile first`;
    return certificate === '' || certificate === panelFiles(dataDirectory).certificate
      ? undefined
      : `WEIR_TLS_CERT names the certificate of the panel, ${certificate}; remove it and WEIR_TLS_KEY first`;
  }

  #inboundOf(wanted: number | string, path: string): Inbound {
    const found = this.#needs.inbounds
      .list()
      .find(({ id, tag }) => (typeof wanted === 'number' ? id === wanted : tag === wanted));
    if (!found)
      throw errors.USE(
        `${path}: there is no inbound ${JSON.stringify(wanted).slice(0, 80)} on this machine`,
        { path },
      );
    if (!certificatesOf(found))
      throw errors.USE(
        `${path}: the inbound ${found.tag} has no TLS; set streamSettings.security to tls, with any certificate, first`,
        { path },
      );
    return found;
  }

  /** Throws TAKEN where another certificate has one of these uses. */
  requireFree(uses: StoredUses, own: number | undefined): void {
    for (const other of this.#needs.store.list()) {
      if (other.id === own) continue;
      const inbound = uses.inbounds.find((id) => other.uses.inbounds.includes(id));
      const [path, what] =
        uses.panel && other.uses.panel
          ? ['uses.panel', 'the panel']
          : uses.subscription && other.uses.subscription
            ? ['uses.subscription', 'the subscription server']
            : inbound !== undefined
              ? ['uses.inbounds', `the inbound ${inbound}`]
              : [];
      if (path !== undefined)
        throw errors.TAKEN(`${path}: ${what} uses certificate ${other.id} (${other.names[0]}) already`, {
          path,
        });
    }
  }

  /** What serves these files, or will; empty when nothing does. */
  async usersOf({ folder }: Certificate): Promise<readonly string[]> {
    const { folders, inbounds, listener, allSettings } = this.#needs;
    const isOurs = (path: string): boolean => isIn(folder, path);
    const { certificate = '', key = '' } = listener?.certificateFiles ?? {};
    const { webCertFile } = allSettings.read(panelFileSettings);
    const isPanel =
      (await folders.panel()) === folder || isOurs(certificate) || isOurs(key) || isOurs(webCertFile);
    return [
      ...(isPanel ? ['the panel'] : []),
      ...(isOurs(this.#user()?.value.files().certificate ?? '') ? ['the subscription server'] : []),
      ...inbounds
        .list()
        .filter((inbound) =>
          certificatesOf(inbound)?.some(
            (one) => isOurs(String(one['certificateFile'])) || isOurs(String(one['keyFile'])),
          ),
        )
        .map(({ tag }) => `the inbound ${tag}`),
    ];
  }

  /** Puts the certificate where its uses say. What fails is in `lastError` and tried again. */
  async apply({ id }: Certificate, who: Principal): Promise<string> {
    const { store, served, folders, log } = this.#needs;
    const certificate = store.get(id);
    if (!certificate || !served.of(id)) return '';
    const { uses, folder } = certificate;
    const files = folders.paths(folder);
    const problems: string[] = [];
    const notes: string[] = [];
    const attempt = async (what: string, work: () => Promise<string>): Promise<void> => {
      try {
        const note = await work();
        if (note !== '') notes.push(`${what}: ${note}`);
      } catch (error) {
        problems.push(`${what} does not use it yet: ${messageOf(error)}`);
      }
    };
    if (uses.panel) this.#ofPanel.add(id);
    if (uses.panel) await attempt('the panel', () => this.#panel(folder));
    if (uses.subscription) await attempt('the subscription server', () => this.#subscription(files, who));
    for (const inbound of uses.inbounds)
      await attempt(`inbound ${inbound}`, () => this.#inbound(inbound, files, served.isUrgent(id), who));
    if (problems.length === 0) served.settled(id);
    await this.#renewed();
    const problem = problems.join('; ').slice(0, 600);
    if (problem !== '' && problem !== this.#logged.get(id))
      log.error('a certificate is not used everywhere', { names: certificate.names, problem });
    this.#logged.set(id, problem);
    // It is tried each minute, and most attempts change nothing.
    await store.change(id, ({ usesPending, failures, lastError }) => ({
      ...(usesPending !== problems.length > 0 && { usesPending: problems.length > 0 }),
      ...(failures === 0 && lastError !== problem && { lastError: problem }),
    }));
    return notes.join('; ');
  }

  /** Uses on this machine what another panel put in use or renewed; `before` is undefined at the start. `isNew`: the files here have changed. */
  async follow(
    { id, folder, uses }: Certificate,
    before: Certificate | undefined,
    isNew: boolean,
  ): Promise<void> {
    const { folders, served, store, panels, engine } = this.#needs;
    if (isNew) {
      await this.#renewed();
      // Paths in settings and inbounds may be those of another machine.
      if (panels?.leads !== false) await store.change(id, () => ({ usesPending: true }));
      if (served.isUrgent(id) && (panels?.hasOwnCore || panels?.leads)) this.#urgent.add(id);
    }
    if (uses.panel) this.#ofPanel.add(id);
    // A panel alone has put it in use by itself; what an admin removes by hand stays removed.
    if (panels && panels.name !== '' && (isNew || before?.uses !== uses)) {
      const isPanels = (await folders.panel()) === folder;
      if (!uses.panel && isPanels && this.#ofPanel.has(id)) await folders.leavePanel();
      if (uses.panel && !isPanels && served.of(id) && this.#panelProblem() === undefined)
        await folders.usePanel(folder);
    }
    if (this.#urgent.has(id)) {
      for (const inbound of uses.inbounds) {
        const applied = await engine.replaceInbound(inbound);
        if (applied.pending) throw new Error(`the core takes it later: ${applied.reason}`);
      }
      this.#urgent.delete(id);
      served.settled(id);
    }
    if (panels?.leads === false) this.#requireOwnPaths(folder);
  }

  /** Settings and inbounds name files as they lie at the panel that has put them in use. */
  #requireOwnPaths(folder: string): void {
    const { folders, inbounds } = this.#needs;
    const named = [
      this.#user()?.value.files().certificate ?? '',
      ...inbounds.list().flatMap((inbound) => (certificatesOf(inbound) ?? []).map(certificateFileOf)),
    ];
    const own = folders.paths(folder).certificate;
    const other = named.find((path) => isIn(folder, path) && resolve(path) !== resolve(own));
    if (other !== undefined)
      throw new Error(
        `${other} is not in the data folder of this panel; give the data folders of all panels the same path`,
      );
  }

  async #panel(folder: string): Promise<string> {
    const { folders, listener } = this.#needs;
    const problem = this.#panelProblem();
    if (problem !== undefined) throw new Error(problem);
    await folders.usePanel(folder);
    return listener?.certificateFiles.certificate === '' ? RESTART : '';
  }

  async #subscription(files: CertificatePaths, who: Principal): Promise<string> {
    const user = this.#user()?.value;
    if (!user) throw new Error('the subscription server does not run');
    return user.files().certificate === files.certificate ? '' : user.use(files, who);
  }

  async #inbound(id: number, files: CertificatePaths, isUrgent: boolean, who: Principal): Promise<string> {
    const { inbounds, inboundEdits, engine } = this.#needs;
    const inbound = inbounds.get(id);
    if (!inbound) throw new Error('it was deleted or moved to a node; change the uses of the certificate');
    const streamSettings = withCertificate(inbound, files);
    // Else the core reads the files by itself: nothing is replaced, and UDP sessions go on as well.
    if (!streamSettings && !isUrgent) return '';
    if (!streamSettings) {
      const replaced = await engine.replaceInbound(id);
      return replaced.pending ? `the core takes it later: ${replaced.reason}` : '';
    }
    const applied = await inboundEdits.update(id, { streamSettings }, who);
    return applied.pending ? `the core takes it later: ${applied.reason}` : '';
  }

  /** The content of files that something serves has changed: listeners read them at once. */
  async #renewed(): Promise<void> {
    const { listener, log } = this.#needs;
    try {
      await listener?.readCertificate();
      await this.#user()?.value.renewed();
    } catch (error) {
      log.warn('a listener did not take the new certificate yet', { reason: messageOf(error) });
    }
  }
}
