import { bool, setting, text, inSection } from '../../kernel/index.js';

/** Names of buckets, as AWS and others accept them: no dots in a row, no slashes. */
const BUCKET = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{1,64}$/;
const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
/** AWS: 16 to 128 word characters; others have hyphens and dots. */
const ACCESS_KEY = /^[\x21-\x7e]*$/;

const fitting = (most: number, pattern: RegExp, what: string) =>
  text()
    .max(most)
    .custom((value: string) => {
      if (value !== '' && !pattern.test(value)) throw new Error(`it must be ${what}, or blank`);
      return value;
    });

const endpoint = () =>
  text()
    .max(1_024)
    .custom((value: string) => {
      if (value === '') return value;
      const url = URL.canParse(value) ? new URL(value) : undefined;
      if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
        throw new Error('it must be a URL like https://s3.example.com, or blank');
      if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
        throw new Error('it must have no user name, password, query or fragment');
      if (url.pathname !== '/') throw new Error('it must have no path; the bucket is a setting of its own');
      return value;
    });

export const s3Settings = inSection('Copies in a bucket', {
  backupS3Bucket: setting(
    fitting(63, BUCKET, 'the name of a bucket: 3 to 63 small letters, digits, hyphens and dots'),
    '',
    'bucket to which backups are copied; blank for none',
  ),
  backupS3Region: setting(
    fitting(64, REGION, 'the name of a region, like eu-central-1'),
    'us-east-1',
    'region of the bucket; most other services than AWS accept us-east-1',
    { when: { field: 'backupS3Bucket' } },
  ),
  backupS3Endpoint: setting(
    endpoint(),
    '',
    'address of a service that is not AWS, like https://s3.example.com; blank for AWS',
    { when: { field: 'backupS3Bucket' } },
  ),
  backupS3Prefix: setting(
    fitting(512, PREFIX, 'folders with a slash behind each, like weir/backups/'),
    '',
    'folders in the bucket; below them is a folder with the guid of the panel',
    { when: { field: 'backupS3Bucket' }, level: 'advanced' },
  ),
  backupS3PathStyle: setting(
    bool(),
    false,
    'whether the bucket is in the path of the address and not in its host name, as for MinIO',
    { when: { field: 'backupS3Bucket' }, level: 'advanced' },
  ),
  backupS3AllowPrivate: setting(
    bool(),
    false,
    'whether the service may be at an address that is not public, for one in your own network',
    { when: { field: 'backupS3Bucket' }, level: 'advanced' },
  ),
  backupS3AccessKey: setting(fitting(256, ACCESS_KEY, 'an access key without spaces'), '', 'access key', {
    when: { field: 'backupS3Bucket' },
  }),
  backupS3SecretKey: setting(fitting(1_024, ACCESS_KEY, 'a secret key without spaces'), '', 'secret key', {
    when: { field: 'backupS3Bucket' },
    secret: true,
  }),
});
