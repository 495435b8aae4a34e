// What people get at the address of a subscription: the status as JSON, the page, the places of devices.
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Clock,
  kernelErrors,
  type LiveSettings,
  PanelError,
  type PluginContext,
} from '../../kernel/index.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import { LONGEST_AGENT } from './agents/pattern.js';
import type { Compiled } from './compiled.js';
import { FetchGates, type LinkHost } from './contract.js';
import type { Gates } from './gates.js';
import { expireOf } from './expiry.js';
import { expand, expandedLink } from './headers.js';
import {
  type DevicePlaces,
  type PageReply,
  type PageView,
  type StatusView,
  SubscriptionPages,
} from './pages.js';
import type { Renderer } from './renderer.js';
import type { subscriptionSettings } from './settings.js';
import { headersProblem } from './shapes.js';
import { statusView } from './status.js';
import { stateOf, type Subscriber } from './subscriber.js';
import { languageIn, languagesOf } from './target.js';

/** The standard format, whose links a page shows. */
const LINKS = 'links';
const NO_PLACES: DevicePlaces = { active: false, full: false, limit: 0, registered: 0, remaining: 0 };

export class Info {
  readonly #compiled: Compiled;
  readonly #renderer: Renderer;
  readonly #gates: Gates;
  readonly #clock: Clock;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #allSettings: SettingsApi;
  readonly #contributions: PluginContext['contributions'];

  constructor(needs: {
    compiled: Compiled;
    renderer: Renderer;
    gates: Gates;
    clock: Clock;
    settings: LiveSettings<typeof subscriptionSettings>;
    allSettings: SettingsApi;
    contributions: PluginContext['contributions'];
  }) {
    this.#compiled = needs.compiled;
    this.#renderer = needs.renderer;
    this.#gates = needs.gates;
    this.#clock = needs.clock;
    this.#settings = needs.settings;
    this.#allSettings = needs.allSettings;
    this.#contributions = needs.contributions;
  }

  /** A plugin writes a page. */
  get hasPage(): boolean {
    return this.#contributions(SubscriptionPages).length > 0;
  }

  status(subscriber: Subscriber, host: LinkHost): StatusView {
    const { client } = subscriber;
    const settings = this.#settings.read();
    const { subTitle, subSupportUrl, subAnnounce, subUpdates } = settings;
    const url = (format: string) => this.#renderer.url(format, client, host) ?? '';
    const parts = {
      urls: { subUrl: url(LINKS), subJsonUrl: url('json'), subAltUrl: url('alt') },
      texts: {
        subTitle: expand(subTitle, client),
        subSupportUrl: expandedLink(subSupportUrl, client),
        announce: expand(subAnnounce, client),
      },
      subUpdates,
      expire: expireOf(client, {
        inclusive: settings.subCalendarExpireInclusive,
        timeZone: this.#compiled.timeZone,
      }),
    };
    return statusView(subscriber, parts, this.#contributions, this.#allSettings);
  }

  /** Undefined while no plugin counts devices. */
  places({ client }: Subscriber): DevicePlaces | undefined {
    const counting = this.#contributions(FetchGates).filter(({ value }) => value.places);
    if (counting.length === 0) return undefined;
    for (const { value, fault } of counting) {
      try {
        const places = value.places?.(client);
        if (places?.active) return places;
      } catch (error) {
        if (error instanceof PanelError) throw error;
        fault('places of a gate', error);
      }
    }
    return NO_PLACES;
  }

  view(subscriber: Subscriber, host: LinkHost, headers: IncomingHttpHeaders): PageView {
    const now = this.#clock.now();
    const { client } = subscriber;
    const state = stateOf(subscriber, now);
    const places = this.places(subscriber);
    const devices = places?.active ? places : undefined;
    // A link does not know which device uses it, so with a limit there is none. Without one, a gate registers nothing.
    const isWithheld =
      state !== 'working' || devices !== undefined || this.#gates.check(client, headers)?.refused === true;
    return {
      status: this.status(subscriber, host),
      state,
      urls: this.#compiled.shown.flatMap(({ name }) => {
        const url = this.#renderer.url(name, client, host);
        return url === undefined ? [] : [{ format: name, url }];
      }),
      devices,
      timeFromFirstUse: waitingTime(subscriber),
      links: isWithheld ? [] : this.#renderer.namedEntries(LINKS, subscriber, host),
      now,
      timeZone: timeZoneOf(this.#allSettings.read(panelSettings).timeLocation),
    };
  }

  page(
    subscriber: Subscriber,
    host: LinkHost,
    headers: IncomingHttpHeaders,
    query: URLSearchParams | undefined,
  ): PageReply | undefined {
    const [contributed] = this.#contributions(SubscriptionPages);
    if (!contributed) return undefined;
    const view = this.view(subscriber, host, headers);
    const request = {
      lang: languageIn(query),
      languages: languagesOf(headers['accept-language']),
      agent: (headers['user-agent'] ?? '').slice(0, LONGEST_AGENT),
    };
    try {
      const reply: unknown = contributed.value.page(view, request);
      const problem = pageProblem(reply);
      if (problem === undefined) return reply as PageReply;
      contributed.fault('page of subscriptions', new Error(problem));
    } catch (error) {
      contributed.fault('page of subscriptions', error);
    }
    throw kernelErrors.PLUGIN_OFF('the page of subscriptions failed; the log says why');
  }
}

/** Of several clients, if all wait for the same time. */
function waitingTime({ client, sharing = [client] }: Subscriber): number | undefined {
  const [first = 0, ...others] = sharing.map(({ expiryTime }) => expiryTime);
  return first < 0 && others.every((one) => one === first) ? -first : undefined;
}

function pageProblem(reply: unknown): string | undefined {
  const { html, headers } = (reply ?? {}) as Partial<PageReply>;
  if (typeof html !== 'string') return 'a page needs html, a text';
  return headers === undefined ? undefined : headersProblem(headers);
}
