// Compares what a schema says of values with what the panel says of them.
import type { ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, selfSigned, TestPanel } from '../../../test/harness/index.js';
import { faultsOf, type Form, inputOf, newForm, protocolsOf, settingsOf, transportsOf } from './forms.js';

export type Values = Record<string, unknown>;
const { cert, key } = selfSigned();
export const TLS = {
  certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }],
};
export const REALITY = {
  target: 'example.com:443',
  serverNames: ['example.com'],
  privateKey: 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo',
  shortIds: [''],
};

/** What the panel knows beside the schemas, in its words. */
const MORE_CHECKS = new RegExp(
  [
    ...['is on this machine', 'is not a valid destination', 'cannot be resolved', 'are too many'],
    ...[
      'it is all zeros',
      'it needs certificateFile',
      'cannot be read',
      'must not overlap',
      'an overlapping network',
    ],
    ...['must not be (?:greater|s1)', 'must be less than', 'needs an?', 'is not in a folder'],
    ...['it must be at least 576', 'it must be tags', 'must be an absolute path', 'two kinds of packets'],
  ].join('|'),
);

/** The fields of objects within objects. */
function* pathsOf(form: Form, above: readonly string[] = []): Generator<readonly string[]> {
  for (const [name, field] of Object.entries(form.properties ?? {})) {
    yield [...above, name];
    yield* pathsOf(inputOf(field), [...above, name]);
  }
}
const at = (values: Values, [name = '', ...rest]: readonly string[], value: unknown): Values => ({
  ...values,
  [name]: rest.length === 0 ? value : at((values[name] ?? {}) as Values, rest, value),
});

export class Agreement {
  readonly panel: TestPanel;
  #port = 10_000;

  private constructor(panel: TestPanel) {
    this.panel = panel;
  }
  static async boot(): Promise<Agreement> {
    return new Agreement(
      await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() }),
    );
  }

  /** What the panel says against an inbound; blank if it takes it. It is disabled, as ports of this machine have no part in this. */
  async fault(body: Values): Promise<string> {
    this.#port++;
    const {
      status,
      text,
      body: answer,
    } = await this.panel.call<{ id: number }>('/panel/api/inbounds/add', {
      body: { listen: '127.0.0.1', port: this.#port, enable: false, ...body },
    });
    if (status !== 200 && status !== 400) throw new Error(`${status}: ${text}`);
    // Each has a network of its own, and there are only so many.
    if (status === 200 && body['protocol'] === 'amneziawg')
      await this.panel.get(`/panel/api/inbounds/del/${answer.obj.id}`, { method: 'POST' });
    return status === 200 ? '' : text;
  }

  /** Where both say the same, or the panel knows more, nothing. */
  difference(what: string, faults: readonly string[], fault: string): string[] {
    const label = `${what}: ${faults.join('; ')} | ${fault.slice(0, 200)}`;
    if (faults.length > 0) return fault === '' ? [`the schema refuses and the panel takes ${label}`] : [];
    return fault === '' || MORE_CHECKS.test(fault) ? [] : [`the schema takes and the panel refuses ${label}`];
  }

  /** Tries these values in each field of a form; resolves with the number of trials. */
  async sweep(
    t: ExecutionContext,
    values: readonly unknown[],
    [name, form, base, bodyOf]: Sweep,
  ): Promise<number> {
    let count = 0;
    const found: string[] = [];
    t.deepEqual(faultsOf(form, base), [], name);
    for (const path of pathsOf(form))
      for (const value of values) {
        const tried = at(base, path, value);
        const what = `${name}: ${path.join('.')} = ${JSON.stringify(value)}`;
        found.push(...this.difference(what, faultsOf(form, tried), await this.fault(bodyOf(tried))));
        count++;
      }
    t.deepEqual(found, [], name);
    return count;
  }

  /** Every form of inbounds, with the values that others are tried beside. */
  async sweeps(): Promise<readonly Sweep[]> {
    const [protocols, transports] = [await protocolsOf(this.panel), await transportsOf(this.panel)];
    const inVless = (streamSettings: Values) => ({ protocol: 'vless', streamSettings });
    return [
      ...protocols.map(({ name, settings, streams }): Sweep => {
        const [{ network = 'tcp', securities = ['none'] } = {}] = streams;
        const [security = 'none'] = securities;
        const streamSettings = { network, security, ...(security === 'tls' && { tlsSettings: TLS }) };
        return [
          name,
          settings,
          newForm(settings),
          (values) => ({
            ...{ protocol: name, settings: values },
            ...(streams.length > 0 && { streamSettings }),
          }),
        ];
      }),
      ...transports.networks.map(({ name: network, key: own, settings }): Sweep => {
        const isHysteria = network === 'hysteria';
        return [
          own,
          settings,
          newForm(settings),
          (values) => ({
            protocol: isHysteria ? 'hysteria' : 'vless',
            streamSettings: {
              ...{ network, [own]: values },
              ...(isHysteria && { security: 'tls', tlsSettings: TLS }),
            },
          }),
        ];
      }),
      ...transports.securities.flatMap(({ name: security, key: own, settings }): Sweep[] =>
        settings
          ? [
              [
                own,
                settings,
                security === 'tls' ? TLS : REALITY,
                (values) => inVless({ network: 'tcp', security, [own]: values }),
              ],
            ]
          : [],
      ),
      ['sockopt', transports.sockopt, {}, (values) => inVless({ sockopt: values })],
      ['finalmask', transports.finalmask, {}, (values) => inVless({ finalmask: values })],
      ['sniffing', transports.sniffing, {}, (values) => ({ protocol: 'vless', sniffing: values })],
    ];
  }

  /** Tries these values in each setting that does not take them. */
  async settings(t: ExecutionContext, values: readonly unknown[]): Promise<number> {
    const { plugins } = await settingsOf(this.panel);
    let count = 0;
    for (const { settings } of plugins)
      for (const [name, field] of Object.entries(settings.properties ?? {}))
        for (const value of values) {
          if (faultsOf(field, value).length === 0) continue;
          count++;
          const answer = await this.panel.call('/panel/api/setting/update', { body: { [name]: value } });
          t.is(answer.status, 400, `${name} = ${JSON.stringify(value)}: ${answer.text}`);
        }
    return count;
  }
}
/** A form of inbounds: its name, its schema, valid values, and the body that has them. */
export type Sweep = readonly [name: string, form: Form, base: Values, bodyOf: (values: Values) => Values];
