// The files through which the panel asks root for an update, and root answers. Each side reads what the other one wrote, so
// each file has a limit and a shape.
import {
  inspect,
  int,
  oneOf,
  type Schema,
  shape,
  type Static,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';

/** Folder in the data folder: what is downloaded, and the request. */
export const FOLDER = 'updates';
/** In that folder; systemd starts `weir-update.service` when the panel writes the request. */
export const FILES = {
  request: 'request.json',
  index: 'releases.json',
  signature: 'releases.json.minisig',
  package: 'package.tar.gz',
} as const;
/** In the folder of the installation, written by root. */
export const OUTCOME = 'update.json';
/** In the folder of a release: the key of those who built the package. */
export const PACKAGE_KEY = 'update.pub';
export const MOST_EXCHANGED = 64 * 1024;
/** Root does nothing for a request that is older, such as one from before a long stop of the machine. */
export const REQUEST_LIFE_MS = 60 * 60_000;

const runId = () =>
  word()
    .max(32)
    .pattern(/^\d{1,32}$/, 'digits');
const RequestShape = shape({
  runId: runId(),
  version: word().max(64),
  /** Unix ms */
  at: int().min(0),
});
export type UpdateRequest = Static<typeof RequestShape>;

const OutcomeShape = shape({
  runId: runId(),
  state: oneOf('running', 'success', 'failed'),
  version: word().max(64),
  /** Unix ms */
  at: int().min(0),
  /** Unix ms; 0 while it runs */
  finishedAt: int().min(0),
  exitCode: int().min(0).max(255),
  /** one sentence; blank without a failure */
  reason: withDefault(text().max(8_192), ''),
  /** of the newest index that root has accepted, and the id of its key */
  number: withDefault(int().min(0), 0),
  key: withDefault(text().max(16), ''),
});
/** What root did for a request. */
export type UpdateOutcome = Static<typeof OutcomeShape>;

function read<S extends Schema>(schema: S, content: string): Static<S> | undefined {
  if (content.length > MOST_EXCHANGED) return undefined;
  try {
    const found = inspect(schema, JSON.parse(content));
    return 'issues' in found ? undefined : (found.value as Static<S>);
  } catch {
    return undefined;
  }
}
/** Undefined for what is not a request. */
export const readRequest = (content: string): UpdateRequest | undefined => read(RequestShape, content);
/** Undefined for what is not an outcome. */
export const readOutcome = (content: string): UpdateOutcome | undefined => read(OutcomeShape, content);
