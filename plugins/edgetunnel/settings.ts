import { custom, describedAs, int, setting, text, inSection } from '../../kernel/index.js';
import { readAccount } from './account.js';

/** Days; 0 is off. */
export const Interval = () => int().min(0).max(365);

/** Blank, or what the action `data` returns. */
const StoredAccount = describedAs(
  custom<string>(
    text()
      .max(16_384)
      .custom((value: string) => {
        if (value === '') return value;
        try {
          readAccount(value);
        } catch {
          // Its message may repeat a part of the text.
          throw new Error('it must be blank, or the JSON text that the action data returns');
        }
        return value;
      }),
  ),
  { type: 'string' },
);

export const tunnelSettings = inSection(
  'Tunnel service',
  {
    edgetunnelSecret: setting(StoredAccount, '', 'the registered device, as JSON text', {
      readOnly: true,
      secret: true,
    }),
    edgetunnelUpdateInterval: setting(
      Interval(),
      0,
      'days until the device is replaced by a new one; 0: never',
      { unit: 'days' },
    ),
    edgetunnelLastUpdate: setting(
      int().min(0),
      0,
      'when the present device was registered, in Unix seconds; 0: unknown',
      { readOnly: true },
    ),
  },
  { level: 'advanced' },
);
