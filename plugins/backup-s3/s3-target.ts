// A bucket of S3, or of a service with the same API, as a target of backups.
import { open } from 'node:fs/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import type { LiveSettings } from '../../kernel/index.js';
import type { BackupTarget, TargetFile } from '../backup/contract.js';
import {
  CalledHosts,
  type OutgoingAccess,
  type OutgoingApi,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { failureOf } from './failure.js';
import { GuardedHandler } from './request-handler.js';
import type { s3Settings } from './settings.js';

const MIB = 1024 * 1024;
/** Larger files are sent in parts of this size, of 4 GiB 512. A part is hashed in one piece, which must not take long. */
const PART = 8 * MIB;
/** One reply when a file is read. */
const SLICE = 64 * MIB;
/** The client parses a page in one piece: 1,000 entries take 200 ms. */
const PAGE = 100;
const MOST_PAGES = 100;
const ATTEMPTS = 3;

type Sdk = typeof import('@aws-sdk/client-s3');
interface Opened {
  readonly sdk: Sdk;
  readonly client: S3Client;
  readonly bucket: string;
  readonly keyOf: (name: string) => string;
}

export class S3Target implements BackupTarget {
  readonly name = 's3';
  readonly #settings: LiveSettings<typeof s3Settings>;
  readonly #fetch: OutgoingFetch;
  readonly #hosts = new CalledHosts();
  readonly access: OutgoingAccess = {
    hosts: this.#hosts.list,
    limits: {
      connectMs: 15_000,
      firstByteMs: 60_000,
      wholeMs: 30 * 60_000,
      maxBytes: SLICE + MIB,
      redirects: 0,
    },
  };

  constructor({ settings, outgoing }: { settings: LiveSettings<typeof s3Settings>; outgoing: OutgoingApi }) {
    this.#settings = settings;
    this.#fetch = outgoing.for(this.access);
  }

  isOn(): boolean {
    return this.#settings.read().backupS3Bucket !== '';
  }

  place(): string {
    const { backupS3Bucket, backupS3Prefix, backupS3Endpoint } = this.#settings.read();
    const at = backupS3Endpoint === '' ? '' : ` at ${backupS3Endpoint}`;
    return backupS3Bucket === '' ? '' : `s3://${backupS3Bucket}/${backupS3Prefix}${at}`;
  }

  /** Hosts that this client may call: that of the endpoint, with and without the bucket. */
  #hostsOf(bucket: string): readonly string[] {
    const { backupS3Endpoint, backupS3Region } = this.#settings.read();
    const host =
      backupS3Endpoint === '' ? `s3.${backupS3Region}.amazonaws.com` : new URL(backupS3Endpoint).hostname;
    const withBucket = `${bucket}.${host}`;
    return host.startsWith('[') || /^[\d.]+$/.test(host) ? [host] : [host, withBucket];
  }

  /** The package is large, and most panels never need it: it is loaded here, and nowhere else. */
  async #within<T>(signal: AbortSignal, work: (opened: Opened) => Promise<T>): Promise<T> {
    const settings = this.#settings.read();
    const { backupS3Bucket: bucket, backupS3Prefix: prefix, backupS3Endpoint: endpoint } = settings;
    const { backupS3AccessKey: accessKeyId, backupS3SecretKey: secretAccessKey } = settings;
    if (accessKeyId === '' || secretAccessKey === '')
      throw new Error('the settings backupS3AccessKey and backupS3SecretKey are needed');
    const sdk: Sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      region: settings.backupS3Region || 'us-east-1',
      ...(endpoint !== '' && { endpoint }),
      forcePathStyle: settings.backupS3PathStyle,
      credentials: { accessKeyId, secretAccessKey },
      maxAttempts: ATTEMPTS,
      followRegionRedirects: false,
      // Not every service knows the newer checksums; each file is read back anyway.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: new GuardedHandler({
        fetch: this.#fetch,
        allowPrivate: settings.backupS3AllowPrivate,
        signal,
      }) as never,
    });
    const [first = '', second = first] = this.#hostsOf(bucket);
    try {
      return await this.#hosts.during(first, () =>
        this.#hosts.during(second, () => work({ sdk, client, bucket, keyOf: (name) => `${prefix}${name}` })),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`${this.place()}: ${failureOf(error)}`, { cause: error });
    } finally {
      client.destroy();
    }
  }

  put(
    name: string,
    { path, bytes }: { readonly path: string; readonly bytes: number },
    signal: AbortSignal,
  ): Promise<void> {
    return this.#within(signal, async (opened) => {
      const { sdk, client, bucket, keyOf } = opened;
      const file = await open(path);
      try {
        if (bytes > PART) return await sendInParts(opened, keyOf(name), file, bytes, signal);
        const Body = await pieceOf(file, 0, bytes);
        const command = new sdk.PutObjectCommand({ Bucket: bucket, Key: keyOf(name), Body });
        await client.send(command, { abortSignal: signal });
      } finally {
        await file.close();
      }
    });
  }

  async *read(name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (let from = 0; ; ) {
      const { body, size } = await this.#slice(name, from, signal);
      const before = from;
      for await (const piece of body) {
        from += piece.length;
        yield piece;
      }
      if (size === undefined || from >= size) return;
      if (from === before) throw new Error(`${this.place()}: it returns nothing from byte ${from} on`);
    }
  }

  /** One slice of a file, and the size of the whole; undefined where the service knows no slices. */
  async #slice(
    name: string,
    from: number,
    signal: AbortSignal,
  ): Promise<{ body: AsyncIterable<Uint8Array>; size: number | undefined }> {
    return this.#within(signal, async ({ sdk, client, bucket, keyOf }) => {
      const command = new sdk.GetObjectCommand({
        Bucket: bucket,
        Key: keyOf(name),
        Range: `bytes=${from}-${from + SLICE - 1}`,
      });
      const { Body, ContentRange } = await client.send(command, { abortSignal: signal });
      const size = /\/(\d{1,15})$/.exec(ContentRange ?? '')?.[1];
      const starts = /^bytes (\d{1,15})-/.exec(ContentRange ?? '')?.[1];
      if ((from > 0 && starts === undefined) || (starts !== undefined && Number(starts) !== from))
        throw new Error('it returned another part of the file than was asked for');
      const body = (Body ?? []) as unknown as AsyncIterable<Uint8Array>;
      return { body: this.#named(body, signal), size: size === undefined ? undefined : Number(size) };
    });
  }

  async *#named(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`${this.place()}: ${failureOf(error)}`, { cause: error });
    }
  }

  list(folder: string, most: number, signal: AbortSignal): Promise<readonly TargetFile[]> {
    return this.#within(signal, async ({ sdk, client, bucket, keyOf }) => {
      const prefix = keyOf(`${folder}/`);
      const files: TargetFile[] = [];
      let token: string | undefined;
      for (let page = 0; page < MOST_PAGES && files.length < most; page++) {
        const { Contents = [], NextContinuationToken } = await client.send(
          new sdk.ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix,
            MaxKeys: PAGE,
            ContinuationToken: token,
          }),
          { abortSignal: signal },
        );
        for (const { Key = '', Size = 0 } of Contents)
          if (Key.startsWith(prefix)) files.push({ name: Key.slice(prefix.length), bytes: Size });
        if (NextContinuationToken === undefined || NextContinuationToken === token) return files;
        token = NextContinuationToken;
      }
      return files.slice(0, most);
    });
  }

  remove(name: string, signal: AbortSignal): Promise<void> {
    return this.#within(signal, async ({ sdk, client, bucket, keyOf }) => {
      const command = new sdk.DeleteObjectCommand({ Bucket: bucket, Key: keyOf(name) });
      await client.send(command, { abortSignal: signal });
    });
  }
}

type File = Awaited<ReturnType<typeof open>>;

async function pieceOf(file: File, from: number, length: number): Promise<Uint8Array> {
  const piece = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(piece, at, length - at, from + at);
    if (bytesRead === 0) throw new Error('the backup has become shorter');
    at += bytesRead;
  }
  return piece;
}

/** Parts of an upload that failed stay and cost money, until it is aborted. */
async function sendInParts(
  { sdk, client, bucket: Bucket }: Opened,
  Key: string,
  file: File,
  bytes: number,
  signal: AbortSignal,
): Promise<void> {
  await abortUploads({ sdk, client, bucket: Bucket }, Key, signal);
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key }), {
    abortSignal: signal,
  });
  if (UploadId === undefined) throw new Error('it began no upload');
  try {
    const parts: { ETag: string | undefined; PartNumber: number }[] = [];
    for (let from = 0; from < bytes; from += PART) {
      const PartNumber = parts.length + 1;
      const Body = await pieceOf(file, from, Math.min(PART, bytes - from));
      const { ETag } = await client.send(
        new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }),
        { abortSignal: signal },
      );
      parts.push({ ETag, PartNumber });
    }
    await client.send(
      new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts: parts } }),
      { abortSignal: signal },
    );
  } catch (error) {
    await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
    throw error;
  }
}

/** Aborts what a process that was killed has left below the folder of this panel. */
async function abortUploads(
  { sdk, client, bucket: Bucket }: Pick<Opened, 'sdk' | 'client' | 'bucket'>,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const Prefix = key.slice(0, key.lastIndexOf('/') + 1);
  // A service, or a key, that cannot list uploads is no reason to have no backup.
  const { Uploads = [] } = await client
    .send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix, MaxUploads: PAGE }), { abortSignal: signal })
    .catch(() => ({ Uploads: [] }));
  for (const { Key, UploadId } of Uploads)
    if (Key?.startsWith(Prefix) && UploadId !== undefined)
      await client
        .send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal: signal })
        .catch(() => undefined);
}
