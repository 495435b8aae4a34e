import { bool, int, setting, text, inSection } from '../../kernel/index.js';
import { readPublicKeys } from './minisign.js';

const source = () =>
  text()
    .max(1_000)
    .custom((value: string) => {
      if (value === '') return value;
      const url = URL.canParse(value) ? new URL(value) : undefined;
      if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
        throw new Error('it must be the http or https address of an index of releases, or blank');
      return value;
    });

/** Public keys of minisign, with commas between them; blank for none. */
export const keys = () =>
  text()
    .max(600)
    .custom((value: string) => {
      readPublicKeys(value);
      return value;
    });

export const updateSettings = inSection(
  'Updates',
  {
    updateSource: setting(
      source(),
      '',
      'address of the signed index of releases of the panel; its signature is at the same address with .minisig; blank: none',
    ),
    updateKey: setting(
      keys(),
      '',
      'public key of minisign with which the index is signed; several with commas; blank: that of WEIR_UPDATE_KEY, or of the package',
    ),
    updateCheckHours: setting(
      int().min(0).max(720),
      24,
      'hours between two looks for a new release, where updateSource is set; 0: never',
      { unit: 'hours', when: { field: 'updateSource' } },
    ),
    devChannelEnable: setting(bool(), false, 'whether releases of the channel dev are offered too'),
  },
  { level: 'advanced' },
);
