// The certificate of TLS settings as one of the files on this machine.
import { isRecord, type Values } from '../forms/schema.js';

export interface CertificateFile {
  /** those it is for; empty where they are not known */
  readonly names: readonly string[];
  readonly certificateFile: string;
  readonly keyFile: string;
}

const listOf = ({ certificates }: Values): readonly unknown[] =>
  Array.isArray(certificates) ? certificates : [];

/** The file of the first certificate; blank without one. */
export function certificateOf(values: Values): string {
  const first = listOf(values)[0];
  return isRecord(first) ? String(first['certificateFile'] ?? '') : '';
}

/** In place of the first certificate; its other settings stay, and so do other certificates. */
export function withCertificate(
  values: Values,
  { names, certificateFile, keyFile }: CertificateFile,
): Values {
  const [first, ...others] = listOf(values);
  const { certificate: _, key: __, ...kept } = isRecord(first) ? first : {};
  const name = names.find((one) => !one.startsWith('*'));
  const isNamed = typeof values['serverName'] === 'string' && values['serverName'] !== '';
  return {
    ...values,
    certificates: [{ ...kept, certificateFile, keyFile }, ...others],
    ...(!isNamed && name !== undefined && { serverName: name }),
  };
}
