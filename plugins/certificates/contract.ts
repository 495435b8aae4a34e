// Certificates: issued by an authority or an admin's own, and where they are used.
import { join } from 'node:path';
import {
  during,
  event,
  extensionPoint,
  type ListenersApi,
  type Principal,
  token,
} from '../../kernel/index.js';
import type { StoredUses } from './fields.js';

export { PairProblem, type Pem, endOf, readPair, readPairAgain } from './pair-files.js';
export { pairFile, refuseBadPair, withSetting } from './pair-settings.js';

/** Folder of all certificates, in the data folder. */
export const CERTIFICATE_FOLDER = 'certificates';
/** Files of the certificate that the panel serves when no variable names one; present once it was issued, or settings name one. */
export const panelFiles = (dataDirectory: string): CertificatePaths => ({
  certificate: join(dataDirectory, CERTIFICATE_FOLDER, 'panel', 'fullchain.pem'),
  key: join(dataDirectory, CERTIFICATE_FOLDER, 'panel', 'privkey.pem'),
});

export interface CertificatePaths {
  /** absolute; PEM with its chain */
  readonly certificate: string;
  readonly key: string;
}

/** Something that can serve a certificate, such as a server of a plugin. */
export interface CertificateUser {
  /** the key of `uses` in the API */
  readonly name: 'subscription';
  /** Uses these files from now on. Resolves with what an admin must do first; empty when nothing. */
  use(files: CertificatePaths, who: Principal): Promise<string>;
  /** The content of the files has changed. Called also when it uses others. */
  renewed(): Promise<void>;
  /** The files that it uses, or will use; empty paths when none. */
  files(): CertificatePaths;
}
/** Those that can serve a certificate. */
export const CertificateUsers = extensionPoint<CertificateUser>(
  'certificates',
  'CertificateUsers',
  ({ name, use, renewed, files }, _, others) => {
    if (name !== 'subscription') return 'name must be subscription';
    if ([use, renewed, files].some((part) => typeof part !== 'function'))
      return 'it needs the functions use, renewed and files';
    return others[0] && `${others[0].plugin} is the ${name} already`;
  },
);

export interface ChallengesApi {
  /** Answers a challenge that an authority asks for; false when the request is for something else. For a listener that may be on port 80. */
  answer(...request: Parameters<NonNullable<ListenersApi['panel']['intercept']>>): boolean;
}
export const Challenges = token<ChallengesApi>('certificates', 'Challenges');

/** An authority issued no certificate, at first or for a renewal; `reason` is a sentence. Each attempt is reported. */
export const certificateFailed = event<{
  readonly id: number;
  readonly names: readonly string[];
  readonly reason: string;
}>('certificates/certificateFailed');

/** What an admin sets of a certificate. */
export interface CertificateFacts {
  readonly id: number;
  readonly names: readonly string[];
  readonly challenge: string;
  readonly keyType: string;
  readonly directory: string;
  readonly uses: StoredUses;
}
export interface CertificateChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: CertificateFacts | undefined;
  readonly after: CertificateFacts | undefined;
}
/** Runs in the transaction that adds, changes or removes certificates; not when one is renewed. */
export const duringCertificateSave = during<{
  readonly changes: readonly CertificateChange[];
  readonly who: Principal;
}>('certificates/duringCertificateSave');
