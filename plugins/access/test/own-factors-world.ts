// Admins with second factors of their own.
import { Secret, TOTP } from 'otpauth';
import type { FakeClock } from '../../../test/harness/fake-clock.js';
import type { Answer, CallOptions, TestPanel } from '../../../test/harness/panel.js';

export const FACTOR = '/panel/api/x/account/secondFactor';
export const ADMINS = '/panel/api/x/admins';
export const UPDATE = '/panel/api/setting/update';
export const PASSWORD = 'a password of nobody else';
export const SECRETS = [
  'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
  'KRUGS4ZANFZSAYLOMRZWC3TEON2HKZTG',
  'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
] as const;

/** What an authenticator shows. */
export const codeOf = (clock: FakeClock, secret: string): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now() });

/** An admin with a session. */
export class Person {
  readonly panel: TestPanel;
  readonly clock: FakeClock;
  readonly username: string;
  readonly secret: string;
  id = 0;
  headers: Record<string, string> = {};
  recoveryCodes: readonly string[] = [];

  constructor(panel: TestPanel, clock: FakeClock, username: string, secret: string) {
    this.panel = panel;
    this.clock = clock;
    this.username = username;
    this.secret = secret;
  }

  static async add(
    panel: TestPanel,
    clock: FakeClock,
    { username, secret, role = 0 }: { username: string; secret: string; role?: number },
  ): Promise<Person> {
    const person = new Person(panel, clock, username, secret);
    const body = { username, password: PASSWORD, role };
    person.id = (await panel.get<{ id: number }>(ADMINS, { body })).id;
    await person.logIn();
    return person;
  }

  /** A code that was not used yet. */
  code(): string {
    this.clock.tick(30_000);
    return codeOf(this.clock, this.secret);
  }

  async logIn(twoFactorCode?: string, password = PASSWORD): Promise<number> {
    const body = { username: this.username, password, twoFactorCode };
    const answer = await this.panel.call('/login', { body, anonymous: true });
    const cookie = answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0] ?? '')
      .find((pair) => pair.startsWith('weir_session='));
    if (cookie === undefined) return answer.status;
    const csrf = (await this.panel.call<string>('/csrf-token', { anonymous: true, headers: { cookie } }))
      .body;
    this.headers = { cookie, 'x-csrf-token': csrf.obj };
    return answer.status;
  }

  call<T = unknown>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.panel.call(path, { ...options, anonymous: true, headers: this.headers });
  }

  async enable(): Promise<number> {
    const body = { twoFactorToken: this.secret, twoFactorCode: this.code() };
    const answer = await this.call<{ recoveryCodes: string[] }>(FACTOR, { body });
    this.recoveryCodes = answer.body.obj?.recoveryCodes ?? [];
    return answer.status;
  }

  async isOn(): Promise<boolean> {
    return (await this.call<{ enabled: boolean }>(FACTOR)).body.obj.enabled;
  }
}
