// Errors of S3 in plain English. The service's own words may hold anything, so only short codes of it are shown.
import { messageOf } from '../../kernel/index.js';
import { OutgoingError } from '../outgoing/contract.js';

interface ServiceError {
  readonly name?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly Code?: unknown;
}

const SENTENCES: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket; create it, or correct backupS3Bucket',
  NoSuchKey: 'it does not have the file that it said it has stored',
  NotFound: 'it does not have the file that it said it has stored',
  AccessDenied:
    'it refuses access; the key needs the rights to list the bucket and to read, write and delete its objects',
  Forbidden:
    'it refuses access; the key needs the rights to list the bucket and to read, write and delete its objects',
  InvalidAccessKeyId: 'it does not know the access key; correct backupS3AccessKey',
  SignatureDoesNotMatch: 'the secret key is not that of the access key; correct backupS3SecretKey',
  AuthorizationHeaderMalformed: 'the region is not that of the bucket; correct backupS3Region',
  PermanentRedirect:
    'the bucket is in another region or at another address; correct backupS3Region or backupS3Endpoint',
  TemporaryRedirect: 'the bucket is at another address; correct backupS3Endpoint',
  IllegalLocationConstraintException: 'the region is not that of the bucket; correct backupS3Region',
  RequestTimeTooSkewed:
    'its clock differs from that of this machine by more than 15 minutes; correct the clock',
  SlowDown: 'it has too many requests; it is tried again later',
  EntityTooLarge: 'it takes no file of this size',
  QuotaExceeded: 'its disk or quota is full',
  XMinioStorageFull: 'its disk is full',
  CredentialsProviderError: 'backupS3AccessKey and backupS3SecretKey are needed',
};
const BY_STATUS: Readonly<Record<number, string>> = {
  301: SENTENCES['PermanentRedirect'] as string,
  302: SENTENCES['TemporaryRedirect'] as string,
  307: SENTENCES['TemporaryRedirect'] as string,
  403: SENTENCES['AccessDenied'] as string,
  404: SENTENCES['NoSuchKey'] as string,
  507: SENTENCES['QuotaExceeded'] as string,
};

function outgoingIn(error: unknown): OutgoingError | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++)
    if (one instanceof OutgoingError) return one;
  return undefined;
}

/** One sentence, without secrets. */
export function failureOf(error: unknown): string {
  const outgoing = outgoingIn(error);
  if (outgoing?.code === 'address')
    return `${outgoing.message}, or set backupS3AllowPrivate if the service is in your own network`;
  if (outgoing) return outgoing.message;
  const { name, $metadata, Code } = (error ?? {}) as ServiceError;
  const status = $metadata?.httpStatusCode ?? 0;
  const sentence =
    SENTENCES[typeof Code === 'string' ? Code : ''] ??
    SENTENCES[typeof name === 'string' ? name : ''] ??
    BY_STATUS[status];
  if (sentence !== undefined) return sentence;
  if (status >= 500) return `it has a problem of its own: it answered with the status ${status}`;
  if (status > 0) {
    const code = typeof name === 'string' && /^[A-Za-z0-9.]{1,60}$/.test(name) ? ` (${name})` : '';
    return `it answered with the status ${status}${code}, which is not what S3 answers`;
  }
  return messageOf(error).slice(0, 300);
}
