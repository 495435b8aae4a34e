// The files that a route takes, as it declares them.
import type { FileRule, UploadedFile } from './multipart.js';

/** A file of an upload; `T` is the type that the handler receives. */
export interface FileField<T> extends FileRule {
  readonly given?: T;
}
export interface FileOptions {
  /** of one file */
  readonly maxBytes: number;
  /** allowed endings of its name: `['.db', '.sqlite']`. The sender chooses the name, so this proves nothing. */
  readonly endings?: readonly string[];
}
/** Exactly one file. */
export const file = (options: FileOptions): FileField<UploadedFile> => ({ ...options, most: 1, least: 1 });
/** No file, one or several. */
export const fileList = (
  options: FileOptions & { readonly most: number },
): FileField<readonly UploadedFile[]> => ({
  ...options,
  least: 0,
});
/** The files that a route takes, by name. */
export type Files = Readonly<Record<string, FileField<unknown>>>;
/** What its handler gets for them. */
export type Given<F> = { readonly [K in keyof F]: F[K] extends FileField<infer T> ? T : never };
