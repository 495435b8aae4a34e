// What a fetch would get with settings that nobody has saved. It happens in one turn of the event loop: the settings in
// memory are others for its length, and no fetch runs meanwhile. So a fetch has no branch for it, and nothing is kept.
import type { Clock, LiveSettings, PluginContext } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { isRemote, type RemoteTextsApi, RemoteTextSources, textOf } from '../remote-texts/contract.js';
import type { SettingsTrialApi } from '../settings/contract.js';
import { AgentChoices } from './agents/choices.js';
import { Chooser } from './choice.js';
import type { Compiled } from './compiled.js';
import { Formats } from './contract.js';
import { refuseSharedPath } from './format-paths.js';
import { type Asked, type PreviewReply, previewReply } from './preview-reply.js';
import type { PublicUrls } from './public-urls.js';
import type { RenderedEntries } from './rendered-entries.js';
import { Renderer } from './renderer.js';
import type { listenerSettings, subscriptionSettings } from './settings.js';

type Values = Readonly<Record<string, unknown>>;
type Names<G> = readonly (keyof G)[];
/** They say where the server listens and whom it answers, not what it answers. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  ...(['subListen', 'subPort'] satisfies Names<typeof listenerSettings>),
  ...(['subCertFile', 'subKeyFile', 'subMissLimit'] satisfies Names<typeof subscriptionSettings>),
]);

export interface TrialReply extends PreviewReply {
  /** names of the formats that would be served, the standard one first */
  readonly formats: readonly string[];
  /** names that were sent and that a preview does not depend on */
  readonly without: readonly string[];
  /** settings with the URL of a text that is fetched after a save only */
  readonly unfetched: readonly string[];
}
interface Needs {
  readonly compiled: Compiled;
  readonly rendered: RenderedEntries;
  readonly publicUrls: PublicUrls;
  readonly clients: ClientsApi;
  readonly settings: LiveSettings<typeof subscriptionSettings>;
  readonly remote: RemoteTextsApi | undefined;
  readonly trial: SettingsTrialApi;
  readonly clock: Clock;
  readonly contributions: PluginContext['contributions'];
}

export class PreviewTrial {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** `sent` is in the form of `setting/update`. Throws as an update does where a value is refused, and as `previewReply`. */
  preview(sent: Values, asked: Asked, host: string): TrialReply {
    const { trial, compiled, clients, clock } = this.#needs;
    const { shown, without } = this.#split(sent);
    const values = trial.differing(shown);
    refuseSharedPath(compiled.formats, values, this.#withPaths(values));
    return trial.readingAs(values, () =>
      compiled.withSettings(() => {
        // Their own, because these remember what follows from settings.
        const chooser = new Chooser({ compiled, agentChoices: new AgentChoices(this.#needs) });
        const renderer = new Renderer(this.#needs);
        const reply = previewReply({ compiled, chooser, renderer, clients, clock }, asked, host);
        const { standard } = compiled;
        const formats = [...new Set(compiled.served.map(([, format]) => format))]
          .sort((a, b) => Number(b === standard) - Number(a === standard))
          .map(({ name }) => name);
        return { ...reply, formats, without, unfetched: this.#unfetched(values) };
      }),
    );
  }

  /** Only of this plugin and of those that add formats: others do not change a list. A secret is tried by saving it. */
  #split(sent: Values): { readonly shown: Values; readonly without: readonly string[] } {
    const { trial, contributions } = this.#needs;
    const plugins = new Set(['subscription', ...contributions(Formats).map(({ plugin }) => plugin)]);
    const isShown = (name: string): boolean => {
      const known = trial.known(name);
      return known !== undefined && plugins.has(known.plugin) && !known.secret && !NOT_SHOWN.has(known.name);
    };
    const names = Object.keys(sent);
    return {
      shown: Object.fromEntries(names.filter(isShown).map((name) => [name, sent[name]])),
      without: names.filter((name) => !isShown(name)),
    };
  }

  /** The values with the paths of all formats beside them. */
  #withPaths(values: Values): Values {
    const { trial, compiled } = this.#needs;
    const paths = compiled.formats.flatMap(({ pathSetting }) => (pathSetting ? [pathSetting] : []));
    return { ...Object.fromEntries(paths.map((name) => [name, trial.known(name)?.value])), ...values };
  }

  #unfetched(values: Values): string[] {
    const { remote, contributions } = this.#needs;
    return contributions(RemoteTextSources)
      .map(({ value }) => value.setting)
      .filter((name) => {
        const value = values[name];
        return typeof value === 'string' && isRemote(value) && textOf(remote, name, value) === '';
      });
  }
}
