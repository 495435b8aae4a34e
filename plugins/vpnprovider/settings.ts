import { custom, describedAs, inspect, setting, shape, text, word, inSection } from '../../kernel/index.js';
import { wireguardKey } from '../core-template/contract.js';

/** What the panel stores, in the form that other panels store, too. `token` is blank for a key that was set by hand. */
export interface Credentials {
  /** base64 */
  readonly private_key: string;
  readonly token: string;
}

/** It goes into a header. */
export const TOKEN = /^[\x21-\x7e]{0,512}$/;
const Stored = shape({
  private_key: word().custom((value: string) => {
    if (wireguardKey(value) === undefined) throw new Error('it must be a key of 32 bytes in base64');
    return value;
  }),
  token: text().pattern(TOKEN),
});

/** Reads the JSON text of the setting; undefined for anything else. */
export function readCredentials(stored: string): Credentials | undefined {
  try {
    const result = inspect(Stored, JSON.parse(stored) as unknown);
    return 'value' in result ? (result.value as Credentials) : undefined;
  } catch {
    return undefined;
  }
}

const StoredText = describedAs(
  custom<string>(
    text()
      .max(2048)
      .custom((value: string) => {
        if (value !== '' && !readCredentials(value))
          throw new Error('it must be blank, or the JSON text that the action data returns');
        return value;
      }),
  ),
  { type: 'string' },
);

export const providerSettings = inSection(
  'VPN provider',
  {
    vpnproviderSecret: setting(StoredText, '', 'private key and token at the VPN provider, as JSON text', {
      readOnly: true,
      secret: true,
    }),
  },
  { level: 'advanced' },
);
