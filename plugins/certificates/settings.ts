import { X509Certificate } from 'node:crypto';
import { bool, custom, describedAs, port, setting, text, word, inSection } from '../../kernel/index.js';
import { LETS_ENCRYPT, directoryProblem } from './names.js';
import { pairFile } from './pair-settings.js';

const MOST_AUTHORITIES = 65_536;
const [BEGIN, END] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

const Authorities = describedAs(
  custom<string>(
    text()
      .max(MOST_AUTHORITIES)
      .custom((value: string) => {
        if (value === '') return value;
        // Not by an expression, which would look for each end in all of the rest.
        const blocks = value
          .split(BEGIN)
          .slice(1)
          .map((text) => `${BEGIN}${text.split(END)[0]}${END}`);
        if (blocks.length === 0)
          throw new Error(
            'it must be blank, or certificates in PEM, which begin with -----BEGIN CERTIFICATE-----',
          );
        for (const [i, block] of blocks.entries())
          try {
            new X509Certificate(block);
          } catch {
            throw new Error(`certificate ${i + 1} in it is not valid PEM`);
          }
        return value;
      }),
  ),
  { type: 'string', maxLength: MOST_AUTHORITIES },
);

const Directory = describedAs(
  custom<string>(
    word()
      .max(2048)
      .custom((value: string) => {
        const problem = directoryProblem(value);
        if (problem !== undefined) throw new Error(problem);
        return value;
      }),
  ),
  { type: 'string', format: 'uri', maxLength: 2048 },
);

const EMAIL = /^(?:[^\s@,?&<>]{1,64}@[^\s@,?&<>/]{1,255})?$/;

/** The environment may set them. */
export const panelFileSettings = inSection(
  'Certificate of the panel',
  {
    webCertFile: setting(
      pairFile(),
      '',
      'certificate of the panel, in PEM with its chain; from HTTP to HTTPS and back at the next start of the panel',
    ),
    webKeyFile: setting(pairFile(), '', 'private key of that certificate, in PEM'),
  },
  { change: 'panel' },
);

export const certificateSettings = inSection(
  'Certificate authority',
  {
    acmeDirectory: setting(
      Directory,
      LETS_ENCRYPT,
      'directory of the certificate authority for new certificates',
    ),
    acmeEmail: setting(
      text().max(320).pattern(EMAIL, 'one address, or blank'),
      '',
      'address to which the authority writes; blank for none',
      { level: 'basic' },
    ),
    acmeHttpPort: setting(
      port(),
      80,
      'port on which HTTP-01 challenges are answered; the authority itself always asks port 80',
    ),
    acmeTlsPort: setting(
      port(),
      443,
      'port on which TLS-ALPN-01 challenges are answered; the authority itself always asks port 443',
    ),
    acmeAuthorities: setting(
      Authorities,
      '',
      'certificates in PEM of private authorities whose directory servers are trusted',
    ),
    acmeAllowPrivate: setting(bool(), false, 'a directory may be at an address that is not public'),
    acmeKeyId: setting(
      text()
        .max(512)
        .pattern(/^[\x21-\x7e]*$/, 'printable characters without spaces'),
      '',
      'key id of the external account, for authorities that ask for one; for new accounts',
      { section: 'External account' },
    ),
    acmeHmacKey: setting(
      text()
        .max(1024)
        .pattern(/^[\w-]*=*$/, 'base64url'),
      '',
      'key of the external account, in base64url',
      { section: 'External account', secret: true },
    ),
  },
  { level: 'advanced' },
);
